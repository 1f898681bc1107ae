// The engine that trains in the page, with programs that Python planned when the page was built (web/play/offline).

import { Core } from "./core.js";
import { EngineError } from "./engine.js";
import { makeLink, valuesOf } from "./link.js";
import { makeProblem, refused } from "./local_data.js";
import { LocalNet } from "./local_net.js";
import { LocalRun } from "./local_run.js";

const LOSSES = { binary: "binary_cross_entropy", classes: "cross_entropy", numbers: "mse" };
const NOTE = "The doctor needs madaline play on your computer.";

const NO_CORE = "This browser cannot train in the page: it lacks WebAssembly with vector instructions, or it is switched off. Use a browser of 2023 or later, or run madaline play on your computer.";

export const hasLocalEngine = () => Boolean(document.getElementById("offline-core"));

export class LocalEngine {
  note = "This page trains by itself, without a server. It has nets of up to three hidden layers with up to 8 units, of tanh or relu (two layers of sigmoid or identity), and the lessons with one setting changed. All other nets, your own tables, the doctor and Python code: pip install \"madaline[web]\", then madaline play.";
  #runs = new Map();
  #count = 0;

  async about() {
    if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") throw new EngineError(0, { message: NO_CORE });
    const parts = await Promise.all(["about", "index", "programs", "data", "core"].map(part));
    const [about, index, programs, data, core] = parts;
    Object.assign(this, { info: JSON.parse(text(about)), index: JSON.parse(text(index)), programs, data: new Float32Array(data.buffer) });
    try {
      this.core = await Core.load(core);
    } catch {  // vector instructions are newer than WebAssembly itself
      throw new EngineError(0, { message: NO_CORE });
    }
    return this.info;
  }

  async start(link) {
    const settings = this.#settings(link);
    const kind = this.#field("data").choices.find((choice) => choice.value === settings.data).kind;
    const problem = makeProblem(this.core, settings, kind, this.info, this.index.data, this.data);
    const loss = settings.loss === "auto" ? LOSSES[problem.task] : settings.loss;
    const outputs = loss === "binary_cross_entropy" || problem.task === "numbers" ? 1 : problem.count;
    const [net, step] = this.#keys(settings, problem.width, loss, outputs);
    const number = this.index.steps[`${net}|${step}`];
    if (number === undefined) throw refused(this.#advice(settings, problem.width, loss, outputs));
    const found = this.index.nets[net];
    const run = new LocalRun(new LocalNet(this.core, {
      net: found, step: this.#program(number), view: this.#program(found.view), slots: this.index.slots[settings.optimizer], settings, problem, outputs,
    }));
    this.#runs.set(++this.#count, run);
    const canonical = this.#link(settings);
    return {
      run: this.#count, link: canonical, settings, task: problem.task, loss, metric: problem.task === "numbers" ? "r2" : "accuracy",
      inputs: problem.labels, classes: Array.from({ length: problem.count }, (_, k) => `class ${k}`), axes: problem.axes, extent: problem.extent,
      training: problem.training, test: problem.test, outputs, stages: found.stages.length, stepsAnEpoch: run.net.steps, notes: [],
      python: "", command: `madaline play --settings '${canonical}' --train`,
    };
  }

  async command(run, action, value = 0) { this.#run(run).command(action, value); }

  async frame(run, { seen = null, rows = 0, at = null, signal } = {}) { return this.#run(run).frame({ seen, rows, at, signal }); }

  async findings() { return { note: NOTE, findings: [], reasons: [], epoch: 0 }; }

  async upload() { throw refused("This page cannot read tables. Install madaline and run: madaline play table.csv"); }

  async close(run) {
    this.#runs.get(run)?.close();
    this.#runs.delete(run);
  }

  #run(run) {
    const found = this.#runs.get(run);
    if (!found) throw new EngineError(404, { message: "This run was closed." });
    return found;
  }

  #field(name) { return this.info.fields.find((field) => field.name === name); }

  #program(number) {
    const [start, size, kind] = this.index.programs[number];
    return { program: this.core.program(number, this.programs.subarray(start, start + size)), kind: this.index.kinds[kind] };
  }

  // The settings of a link; an error names the part that is wrong.
  #settings(link) {
    const query = new URLSearchParams(link);
    for (const name of query.keys()) if (!this.#field(name)) throw refused(`There is no setting '${name}'.`);
    const settings = valuesOf(this.info.fields, link);
    for (const { name, kind, label, low, high, choices, numeric } of this.info.fields) {
      const value = settings[name];
      if (["number", "whole"].includes(kind) && !(value >= low && value <= high)) throw refused(`${label} is ${value} and must be from ${low} to ${high}.`);
      if (kind === "choice" && !choices.some((choice) => choice.value === String(value))) {
        throw refused(`${label}: this page does not have '${String(value).slice(0, 40)}'. It has ${choices.map((choice) => choice.value).join(", ")}.`);
      }
      if (numeric) settings[name] = Number(value);
    }
    return settings;
  }

  #link(settings) {
    const changes = this.info.fields.filter(({ name, default: usual }) => String(settings[name]) !== String(usual));
    return makeLink({ settings: new URLSearchParams(changes.map(({ name, kind }) => [name, kind === "flag" ? Number(settings[name]) : settings[name]])) });
  }

  // What programs depend on, as in offline/catalogue.py.
  #keys(s, width, loss, outputs) {
    const net = [width, s.layers, outputs, loss, s.norm, s.dropout, Number(s.residual), s.init, Number(s.standardize)].join("|");
    const hasMomentum = this.#field("optimizer").choices.find((choice) => choice.value === s.optimizer)?.has?.includes("momentum");
    const penalty = s.regularizer === "none" ? "none" : `${s.regularizer}:${s.strength}`;
    return [net, `${s.optimizer}|${hasMomentum ? s.momentum : 0}|${penalty}`];
  }

  // Which one of the settings would have to be different.
  #advice(settings, width, loss, outputs) {
    const has = (changes) => this.index.steps[this.#keys({ ...settings, ...changes }, width, loss, outputs).join("|")] !== undefined;
    const found = this.info.fields.filter(({ name, default: usual }) => String(settings[name]) !== String(usual) && has({ [name]: usual }));
    const ways = found.map(({ label, default: usual }) => `${label} to ${usual}`);
    const what = ways.length ? ` It has one if you set ${ways.join(", or ")}.` : " It has nets of up to three layers of one activation with up to 8 units each, and small changes of the lessons.";
    return `This page has no program for this combination.${what} madaline play has all of them.`;
  }
}

// A part of the page, unpacked.
async function part(name) {
  const packed = Uint8Array.from(atob(document.getElementById(`offline-${name}`).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const text = (bytes) => new TextDecoder().decode(bytes);
