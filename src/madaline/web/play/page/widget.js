// A training in a notebook: curves, statistics of the layers and the doctor's findings, drawn as in the playground.
// madaline.web.notebook sends them as the traits of an anywidget.

import { Curves } from "./curves.js";
import { showFindings } from "./doctor.js";
import { make, number } from "./text.js";

function render({ model, el }) {
  const status = make("b"), curves = make("div", { class: "curves" }), layers = make("div"), doctor = make("div", { class: "doctor", "aria-live": "polite" });
  const root = make("div", { class: "madaline-live" }, make("p", { role: "status" }, status), curves,
    make("div", { class: "below" }, make("div", {}, make("h2", {}, "Layers"), layers), make("div", {}, make("h2", {}, "Doctor"), doctor)));
  el.append(root);
  const charts = new Curves(curves);
  const paint = () => { root.dataset.theme = isDark(el) ? "dark" : "light"; };
  const themes = new MutationObserver(paint);
  for (const each of [document.documentElement, document.body]) themes.observe(each, { attributes: true });
  requestAnimationFrame(paint);  // when it is part of the page
  paint();
  const draw = {
    status() { status.textContent = model.get("status"); },
    history() {
      const history = model.get("history"), shown = history.loss?.length ?? 0, metric = model.get("metric");
      charts.charts[1].figure.hidden = !metric;
      charts.show([{ history, info: { loss: model.get("loss"), metric: metric || "none", heldOut: "validation", epochs: model.get("epochs") } }], shown);
    },
    layers() { layers.replaceChildren(layerTable(model.get("layers"))); },
    findings() { showFindings(doctor, model.get("findings"), model.get("epochs")); },
  };
  const listeners = Object.entries(draw).map(([name, listener]) => [`change:${name}`, listener]);
  for (const [event, listener] of listeners) {
    model.on(event, listener);
    listener();
  }
  return () => {
    themes.disconnect();
    listeners.forEach(([event, listener]) => model.off(event, listener));
  };
}

// Whether a widget stands on a dark ground. Notebooks have themes of their own, each marked differently.
function isDark(element) {
  const pen = make("canvas", { width: 1, height: 1 }).getContext("2d");
  for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = getComputedStyle(at).backgroundColor;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
    if (alpha > 127) return 0.3 * red + 0.59 * green + 0.11 * blue < 128;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function layerTable(layers) {
  if (!layers.length) return make("p", { class: "quiet" }, "After the first sample.");
  const columns = [["mean", "Mean"], ["std", "Spread"], ["zero", "Zeros"], ["gradient_norm", "Gradient"], ["update_ratio", "Update / weights"]];
  const shown = (layer, name) => (layer[name] === null ? "" : name === "zero" ? `${Math.round(100 * layer[name])} %` : number(layer[name], 2));
  return make("table", { class: "layers" },
    make("thead", {}, make("tr", {}, ...["Layer", ...columns.map(([, title]) => title)].map((title) => make("th", { scope: "col" }, title)))),
    make("tbody", {}, layers.map((layer) => make("tr", {}, make("th", { scope: "row" }, layer.layer), ...columns.map(([name]) => make("td", { class: "number" }, shown(layer, name)))))));
}

export default { render };
