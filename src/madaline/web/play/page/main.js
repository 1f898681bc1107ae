// The page: keeps the link, the run and the pictures in step.

import { connectButtons, connectLessons, delay, layerActions, layersOf } from "./actions.js";
import { Controls, sourceButtons } from "./controls.js";
import { Curves } from "./curves.js";
import { showFindings } from "./doctor.js";
import { EngineError, RemoteEngine, keepToken } from "./engine.js";
import { showLayers } from "./layers.js";
import { LocalEngine, hasLocalEngine } from "./local_engine.js";
import { changed, makeLink, readLink } from "./link.js";
import { Network } from "./network.js";
import { PointEditor } from "./points.js";
import { Surface } from "./surface.js";
import { TablePanel } from "./tables.js";
import { keptText, legend, showNumbers } from "./numbers.js";
import { make } from "./text.js";
import { RunView } from "./view.js";

const $ = (id) => document.getElementById(id);


class Playground {
  constructor(engine, about) {
    this.engine = engine;
    this.about = about;
    this.settings = "";
    this.view = this.kept = null;
    this.versus = null;  // the settings of the run to compare with, and the step that it had
    this.reach = 0;
    this.turn = 0;
    this.hosts = { data: $("data-fields"), inputs: $("data-fields"), net: $("net-fields"), training: $("training-fields") };
    this.controls = new Controls(about.fields, this.hosts, (changes) => this.change(changes));
    this.sources = sourceButtons($("sources"), this.controls.fields.data, about.thumbnails, (source) => this.choose(source));
    this.network = new Network($("net"), $("hint"), layerActions(this));
    this.curves = new Curves($("curves"));
    this.surface = new Surface("");
    this.other = new Surface("");
    $("surfaces").append(this.surface.figure, this.other.figure);
    this.other.figure.hidden = true;
    this.points = new PointEditor(about.most.points, (text) => this.change({ points: text || null }, { quiet: true }));
    this.tables = new TablePanel($("table-panel"), engine, about, { choose: (changes) => this.change(changes), again: () => this.open(), fail: (text) => this.say(text) });
    $("where").textContent = engine.note ?? "";
    $("where").hidden = !engine.note;
    connectButtons(this);
    connectLessons(this);
  }

  // ---- links -------------------------------------------------------------------------------------------------------

  async open({ push = false, run = false } = {}) {
    const link = readLink();
    await this.begin(link.settings, { at: Number(link.at) || null, vs: link.vs, push, run });
  }

  change(changes, { quiet = false } = {}) {
    const status = this.view?.status, isLonger = status === "finished" && Object.keys(changes).join() === "epochs";
    return this.begin(changed(this.settings, changes), { push: !quiet, run: status === "running" || isLonger, vs: this.versus });
  }

  choose(source) {
    const kind = this.controls.kindOf(source);
    const changes = { data: source === "moons" ? null : source };
    for (const field of this.about.fields) if (field.of && !field.of.includes(kind)) changes[field.name] = null;
    if (kind === "table" && this.tables.last) Object.assign(changes, { table: this.tables.last.name, digest: this.tables.last.digest || null });
    if (kind === "points") changes.points = this.points.text() || null;
    return this.change(changes);
  }

  write({ push = false, at = null } = {}) {
    const hash = `#${makeLink({ settings: this.settings, at, vs: this.versus })}`;
    if (hash === (location.hash || "#")) return;
    history[push ? "pushState" : "replaceState"](null, "", hash);
  }

  // ---- runs --------------------------------------------------------------------------------------------------------

  async begin(settings, { at = null, vs = null, push = false, run = false } = {}) {
    const turn = ++this.turn;
    this.settings = settings;
    this.versus = vs;
    const values = this.controls.values(settings);
    this.values = values;
    this.say("");
    this.showControls();
    let info;
    try {
      info = await this.engine.start(settings);
      if (vs !== null && (this.kept?.info.link !== vs || this.kept.isLost)) await this.keepRun(vs, turn);
      else if (vs === null) this.dropKept();
    } catch (error) {
      if (turn !== this.turn) return;
      this.write({ push, at });
      this.view?.close();
      this.view = null;
      this.failed(error);
      return;
    }
    if (turn !== this.turn) return void this.engine.close(info.run).catch(() => {});
    this.view?.close();
    this.settings = info.link;
    this.view = new RunView(this.engine, info);
    this.tables.show(values, info);
    this.showControls();
    this.findings = null;
    this.write({ push, at });
    $("timeline").value = 0;
    await this.command("delay", delay());
    if (turn !== this.turn) return;  // another run was begun meanwhile; it must not be told what to do here
    const goal = at || (this.kept && !run ? Math.max(this.kept.newest?.step ?? 0, this.reach) : 0);
    if (goal) await this.command("until", goal);
    else if (run) await this.command("run");
    if (turn !== this.turn) return;
    this.follow(this.view, (view) => this.drawn(view));
    this.watch(this.view);
  }

  async keepRun(link, turn) {
    const info = await this.engine.start(link);
    if (turn !== this.turn) return void this.engine.close(info.run).catch(() => {});
    this.dropKept();
    this.kept = new RunView(this.engine, info);
    this.follow(this.kept, () => this.draw());
  }

  follow(view, drawn) {
    view.follow({ drawn, failed: (each, error) => this.lost(each, error), back: () => this.say("") });
  }

  dropKept() {
    this.kept?.close();
    this.kept = null;
  }

  // The server closes runs that were not looked at for a long time; they are started again as far as they were.
  async lost(view, error) {
    if (error.status === 404) {
      view.isLost = true;
      const step = view.newest?.step || null;
      if (view === this.view) await this.begin(this.settings, { at: step, vs: this.versus });
      else if (view === this.kept) {
        await this.keepRun(view.info.link, this.turn);
        if (step && this.kept && this.kept !== view) await this.kept.command("until", step);
      }
      return false;
    }
    this.failed(error);
    await new Promise((done) => setTimeout(done, 1500));
    return error.status === 0;
  }

  failed(error) {
    if (!(error instanceof EngineError)) throw error;
    this.say(error.message);
    if (error.answer.digest !== undefined) this.tables.ask(error.answer);
    if (this.controls.kindOf(this.values.data) === "points") this.draw();
  }

  async command(action, value) {
    const views = [this.view, this.kept].filter(Boolean);
    try {
      await Promise.all(views.map((view) => view.command(action, value)));
    } catch (error) {
      if (error.status !== 404) this.failed(error);
    }
  }

  async look(at) {
    if (!this.view) return;
    await Promise.all([this.view, this.kept].filter(Boolean).map((view) => view.look(at)));
    this.draw();
  }

  async watch(view) {
    while (view.isOpen && view === this.view) {
      try {
        const state = await this.engine.findings(view.id);
        if (view !== this.view) return;
        const key = JSON.stringify([state, view.newest?.epoch > 0]);
        if (key !== this.findings) {
          this.findings = key;
          showFindings($("doctor"), state, view.newest?.epoch, (changes) => this.apply(changes));
        }
      } catch { /* follow() tells about it */ }
      await new Promise((done) => setTimeout(done, 1000));
    }
  }

  apply(changes) {
    const isDone = this.view?.status === "finished";
    return this.begin(changed(this.settings, changes), { push: true, run: isDone || this.view?.status === "running", vs: this.versus });
  }

  // ---- pictures ----------------------------------------------------------------------------------------------------

  drawn(view) {
    this.draw();
    const status = view.status;
    if (status !== this.lastStatus || status !== "running") {
      this.lastStatus = status;
      const isRunning = status === "running";
      if (!isRunning && view.newest.step) this.write({ at: view.at ?? view.newest.step });
      if (status === "failed") this.say(view.newest.message);
    }
  }

  draw() {
    const { view, kept } = this;
    const drawing = this.controls.kindOf(this.values.data) === "points";
    this.surface.useForDrawing(drawing ? (x, y, remove) => this.points.press(x, y, remove, () => this.draw()) : null);
    if (!view) {
      if (drawing) this.surface.show(this.points.info(), null);
      return;
    }
    const { frame, info } = view;
    const shownInfo = drawing ? this.points.over(info) : info;
    this.surface.show(shownInfo, frame);
    this.surface.title.replaceChildren(...legend(info));
    this.other.figure.hidden = !kept;
    $("surfaces").classList.toggle("two", Boolean(kept));
    if (kept?.frame) {
      this.other.show(kept.info, kept.frame);
      this.other.title.textContent = keptText(this.about.fields, kept, info);
    }
    if (!frame) return;
    const hidden = layersOf(view.info.settings.layers);
    const available = info.settings && this.controls.kindOf(info.settings.data) !== "table"
      ? this.about.features.filter((feature) => feature.coordinates <= info.extent.length) : [];
    this.network.show(info, frame, hidden, this.about.activations, this.about.most, available, info.settings.features.split(","));
    this.curves.show([view, kept].filter((each) => each?.frame), frame.epoch);
    showLayers($("layers"), frame, [...hidden.map((layer) => `${layer.units} ${layer.activation.replaceAll("_", " ")}`), info.outputs === 1 ? "output" : `${info.outputs} outputs`]);
    showNumbers(view, frame);
  }

  showControls() {
    this.controls.show(this.values, this.view?.info.task);
    this.sources.show(this.values.data);
    this.tables.show(this.values, this.view?.info);
    this.points.show(this.controls.kindOf(this.values.data) === "points", this.values.points);
    const lesson = this.about.lessons.find((each) => each.link === this.settings);
    $("lesson").value = lesson?.name ?? "";
    if (lesson) $("lesson-text").replaceChildren(make("button", { type: "button", class: "close", "aria-label": "Close the lesson", onclick: () => this.closeLesson() }, "×"), make("b", {}, lesson.title), make("p", {}, lesson.text));
    if (lesson && lesson !== this.closed) this.lesson = lesson;
    $("lesson-text").hidden = !this.lesson;
    const compare = $("compare");
    compare.setAttribute("aria-pressed", Boolean(this.kept));
    compare.textContent = this.kept ? "Stop comparing" : "Compare";
  }

  closeLesson() {
    this.closed = this.lesson;
    this.lesson = null;
    $("lesson-text").hidden = true;
    $("lesson").focus();
  }

  say(text) {
    $("message").textContent = text;
    $("message").hidden = !text;
  }

  repaint() {
    this.sources.paint();
    this.draw();
  }

}

async function start() {
  try { if (localStorage.getItem("madaline-theme")) document.documentElement.dataset.theme = localStorage.getItem("madaline-theme"); } catch { /* none kept */ }
  const link = readLink();
  if (link.token) {
    keepToken(link.token);
    history.replaceState(null, "", `#${makeLink(link)}`);
  }
  const engine = hasLocalEngine() ? new LocalEngine() : new RemoteEngine();
  try {
    const about = await engine.about();
    const page = new Playground(engine, about);
    if (!link.settings && about.start) history.replaceState(null, "", `#${about.start}`);
    await page.open();
    document.body.dataset.ready = "";
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    $("message").textContent = error.message;
    $("message").hidden = false;
  }
}

start();
