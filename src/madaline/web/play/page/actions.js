// What the buttons of the page do; `page` is the Playground of main.js.

import { copyText, showCode, showPictures } from "./dialogs.js";
import { curvesPicture, netPicture, surfacePicture } from "./pictures.js";
import { make } from "./text.js";

const $ = (id) => document.getElementById(id);
const SPEEDS = [[1, "1 epoch/s"], [0.3, "3/s"], [0.1, "10/s"], [0.033, "30/s"], [0.012, "80/s"], [0.003, "300/s"], [0, "full"]];

// Seconds to wait after every epoch.
export const delay = () => SPEEDS[$("speed").value][0];

export const layersOf = (text) => text.split(",").filter(Boolean).map((part) => {
  const [, units, activation] = part.match(/^(\d+)(.+)$/);
  return { units: Number(units), activation };
});

// What the buttons of the net do.
export function layerActions(page) {
  const edit = (change) => {
    const layers = layersOf(page.values.layers);
    change(layers);
    page.change({ layers: layers.map((layer) => `${layer.units}${layer.activation}`).join(",") });
  };
  return {
    units: (place, units) => edit((layers) => { layers[place].units = units; }),
    activation: (place, name) => edit((layers) => { layers[place].activation = name; }),
    remove: (place) => edit((layers) => layers.splice(place, 1)),
    layer: () => edit((layers) => layers.push({ ...(layers.at(-1) ?? { units: 4, activation: "tanh" }) })),
    feature: (name, isChosen) => {
      const now = page.values.features.split(",").filter((each) => each && each !== name);
      page.change({ features: (isChosen ? [...now, name] : now).join(",") });
    },
  };
}

// Buttons, sliders, keys and the history of the browser.
export function connectButtons(page) {
  const toggle = async () => {
    await page.look(null);
    await page.command(page.view?.status === "running" ? "pause" : "run");
  };
  const forward = (action) => async () => {
    await page.look(null);
    await page.command(action);
  };
  const restart = () => {
    page.reach = 0;
    if (page.kept) page.kept.isLost = true;  // both runs start again
    return page.begin(page.settings, { vs: page.versus });
  };
  $("run").addEventListener("click", toggle);
  $("step").addEventListener("click", forward("step"));
  $("epoch").addEventListener("click", forward("epoch"));
  $("restart").addEventListener("click", restart);
  const speed = () => {
    $("speed-text").textContent = SPEEDS[$("speed").value][1];
    $("speed").setAttribute("aria-valuetext", SPEEDS[$("speed").value][1]);
    return page.command("delay", delay());
  };
  $("speed").addEventListener("input", speed);
  speed();
  $("timeline").addEventListener("input", () => {
    const moments = page.view?.newest?.moments ?? [];
    const place = Number($("timeline").value);
    const isNewest = place >= moments.length - 1;
    if (!isNewest && page.view.status === "running") page.command("pause");
    page.look(isNewest ? null : moments[place]);
  });
  // The link has the moment that is shown as soon as the slider rests.
  $("timeline").addEventListener("change", () => page.view?.newest && page.write({ at: page.view.at ?? page.view.newest.step }));
  $("compare").addEventListener("click", async () => {
    if (page.versus !== null) {
      page.versus = null;
      page.dropKept();
    } else if (page.view) {
      const { turn } = page;
      page.versus = page.settings;
      page.reach = page.view.newest?.step ?? 0;
      await page.keepRun(page.settings, turn);
      if (turn !== page.turn) return;  // a setting was changed meanwhile, and that run was started beside the kept one
      if (page.reach) await page.kept.command("until", page.reach);
      await page.kept.command("delay", delay());
      page.say("The kept run stays beside the new one. Change a setting and train both.");
    }
    page.write({ at: page.view?.newest?.step || null });
    page.showControls();
    page.draw();
  });
  $("copy-link").addEventListener("click", (event) => copyText(location.href, event.currentTarget));
  $("code").addEventListener("click", () => page.view && showCode(page.view.info));
  $("pictures").addEventListener("click", () => page.view?.frame && showPictures(picturesOf(page)));
  $("theme").addEventListener("click", () => {
    const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = (root.dataset.theme ?? (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
    try { localStorage.setItem("madaline-theme", root.dataset.theme); } catch { /* not kept */ }
    page.repaint();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.repaint());
  addEventListener("resize", () => page.draw());
  addEventListener("popstate", () => page.open());
  addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea, button, summary, dialog, .drawing") || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = { " ": toggle, s: forward("step"), e: forward("epoch"), r: restart };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  addEventListener("pagehide", () => [page.view, page.kept].forEach((view) => view?.close()));
  addEventListener("pageshow", (event) => { if (event.persisted) page.open(); });
}

export function connectLessons(page) {
  $("lesson").append(...page.about.lessons.map((lesson) => make("option", { value: lesson.name }, lesson.title)));
  $("lesson").addEventListener("change", () => {
    const lesson = page.about.lessons.find((each) => each.name === $("lesson").value);
    page.lesson = lesson ?? null;
    page.closed = null;
    if (lesson) page.begin(lesson.link, { push: true, run: true });
    else page.showControls();
  });
}

const picturesOf = (page) => ({
  Surface: () => surfacePicture(page.view.info, page.view.frame),
  Net: () => netPicture(page.network, page.view.info, layersOf(page.view.info.settings.layers)),
  Curves: () => curvesPicture(page.curves),
});
