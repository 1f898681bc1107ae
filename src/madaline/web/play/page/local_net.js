// A net in the memory of the core: its parameters, training steps, and everything that is computed of it.

import { Arrays, runProgram } from "./core.js";
import { rateOf } from "./schedules.js";

const CONSTANT = 0, NORMAL = 2, HINGES = 3;
const SCRATCH = 4096;
const SUMMED = ["objective", "loss", "metric.accuracy"];

export class LocalNet {
  // `net`: how it begins, `step` and `view`: {program, kind}, `slots`: those of the optimizer.
  constructor(core, { net, step, view, slots, settings, problem, outputs }) {
    Object.assign(this, { core, net, step, view, settings, problem, outputs });
    const own = (this.own = new Arrays(core));
    own.add("scratch", SCRATCH, 8);
    own.add("w", net.size);
    own.add("state", Math.max(1, ...net.state.map(([, first, count]) => first + count)));
    for (const [name, [isOne]] of Object.entries(slots)) own.add(`slot.${name}`, isOne ? 1 : net.size);
    const isClass = problem.task !== "numbers";
    this.place("x", problem.X);
    this.place("y", problem.y, isClass);
    this.place("xTest", problem.XTest);
    this.place("yTest", problem.yTest, isClass);
    this.#batches();
    this.#begin(slots);
  }

  // An array of numbers, as floats or as whole numbers.
  place(name, values, isWhole = false) {
    const at = this.own.add(name, values.length, isWhole ? 8 : 4);
    if (isWhole) this.core.integers(at, values);
    else this.own.floats(name).set(values);
  }

  get w() { return this.own.floats("w"); }
  get state() { return this.own.floats("state"); }

  // ---- training ----------------------------------------------------------------------------------------------------

  #batches() {
    const { own, problem: { n }, settings: { batch }, net: { least } } = this;
    const size = Math.min(batch, n);
    // As epoch_batches() does: a last batch that is too small for the net joins the one before.
    this.steps = n % size < least ? Math.max(1, Math.floor(n / size)) : Math.ceil(n / size);
    const starts = Array.from({ length: this.steps + 1 }, (_, k) => (k === this.steps ? n : k * size));
    this.weights = starts.slice(1).map((stop, k) => stop - starts[k]);
    own.add("starts", this.steps + 1, 8);
    this.core.integers(own.at.starts, starts);
    own.add("order", n, 8);
    for (const name of ["t", "lr", ...SUMMED]) own.add(name, this.steps);
    own.add("key", 2 * this.steps, 8);
    this.isShuffled = size < n;
    this.prepared = -1;
  }

  #begin(slots) {
    const { core, own, settings, net } = this, w = new Float64Array(net.size);
    for (const [path, first, count, kind, a, b] of net.begin) {
      core.seedText(settings.seed, path, "init");
      if (kind === CONSTANT) w.fill(a, first, first + count);
      else if (kind === NORMAL) core.normal(count).forEach((z, k) => { w[first + k] = a * z; });
      else core.uniform(count).forEach((u, k) => { w[first + k] = a + (b - a) * u; });
    }
    for (const [path, first, count, kind] of net.begin) {
      if (kind !== HINGES) continue;
      const [, from, size] = net.begin.find(([other]) => other === path.replace(/b$/, "W"));
      for (let unit = 0; unit < count; unit++) {
        let sum = 0;  // in single precision, as NumPy does it
        for (let k = unit; k < size; k += count) sum = Math.fround(sum + Math.fround(Math.fround(w[from + k]) ** 2));
        w[first + unit] = Math.fround(w[first + unit]) * Math.fround(Math.sqrt(sum));
      }
    }
    own.floats("w").set(w);
    for (const [, first, count, , a] of net.state) own.floats("state").fill(a, first, first + count);
    for (const [name, [, value]] of Object.entries(slots)) own.floats(`slot.${name}`).fill(value);
    if (settings.standardize) this.#standardize();
  }

  // The first layer knows mean and standard deviation of the inputs.
  #standardize() {
    const { problem: { X, n, width }, net } = this, state = this.state;
    const place = (name) => net.state.find(([path]) => path === `0.${name}`)[1];
    for (let c = 0; c < width; c++) {
      let mean = 0, square = 0;
      for (let k = 0; k < n; k++) mean += X[k * width + c] / n;
      for (let k = 0; k < n; k++) square += (X[k * width + c] - mean) ** 2 / n;
      state[place("mean") + c] = mean;
      state[place("std") + c] = Math.sqrt(square) || 1;
    }
  }

  #prepare(epoch) {
    if (this.prepared === epoch) return;
    const { core, own, settings, steps, problem: { n } } = this;
    if (this.isShuffled) {
      core.seedText(settings.seed, "rows", `epoch ${epoch}`);
      core.native.draw_order(own.at.order, n);
    } else if (this.prepared < 0) core.integers(own.at.order, Array.from({ length: n }, (_, k) => k));
    const t = own.floats("t"), lr = own.floats("lr"), keys = [];
    for (let k = 0; k < steps; k++) {
      t[k] = epoch * steps + k + 1;
      lr[k] = rateOf(settings, t[k], settings.epochs * steps);
      keys.push(settings.seed, t[k]);
    }
    core.integers(own.at.key, keys);
    this.prepared = epoch;
  }

  // Steps first ... last - 1 of an epoch; gives the number of them that were done.
  train(epoch, first, last) {
    this.#prepare(epoch);
    const { own, step, problem: { n, width } } = this;
    const moving = { t: 4, lr: 4, key: 16, objective: 4, loss: 4, "metric.accuracy": 4 };
    const done = runProgram(this.core, own.at.scratch, step.program, step.kind, {
      order: own.at.order, starts: own.at.starts + 8 * first, steps: last - first,
      argument: (name) => [own.at[name] + first * (moving[name] ?? 0), moving[name] ?? 0],
      rows: { "x[0]": [own.at.x, n, width], "y[0]": [own.at.y, n, 1] },
      guard: step.kind[1].indexOf("objective"),
    });
    return done < 0 ? { steps: -1 - done, isFinite: false } : { steps: done, isFinite: true };
  }

  // The row of the history after an epoch.
  scores() {
    const { own, weights, step, problem } = this, total = problem.n;
    const mean = (name) => own.floats(name).reduce((sum, value, k) => sum + value * weights[k], 0) / total;
    const { loss, raw } = this.look("xTest", "yTest", problem.nTest);
    const row = { loss: mean(step.kind[1].includes("loss") ? "loss" : "objective"), val_loss: loss };
    if (problem.task === "numbers") {
      row.val_r2 = r2(raw, problem.yTest);
      row.r2 = r2(this.look("x", "y", problem.n).raw, problem.y);
    } else {
      row.accuracy = mean("metric.accuracy");
      row.val_accuracy = accuracy(raw, problem.yTest, this.outputs);
    }
    return row;
  }

  // ---- looking -----------------------------------------------------------------------------------------------------

  // Outputs of the layers, predictions, loss and gradient for rows. Arrays are valid until the next call.
  look(x, y, rows, { w = "w", state = "state" } = {}) {
    const { core, view, net } = this;
    const [, outputs] = view.kind, widths = { raw: this.outputs, shown: this.outputs };
    net.stages.forEach(([shape], k) => { widths[`units${k}`] = shape[1]; });
    if (!this.seen || this.seen.rows < rows) {
      this.seen?.free();
      this.seen = Object.assign(new Arrays(core), { rows });
      for (const name of outputs) this.seen.add(name, name === "loss" ? 1 : name === "g" ? net.size : rows * widths[name]);
      this.seen.add("starts", 2, 8);
    }
    const seen = this.seen, at = { w: this.own.at[w], state: this.own.at[state], "x[0]": this.own.at[x], "y[0]": this.own.at[y] };
    core.integers(seen.at.starts, [0, rows]);
    runProgram(core, this.own.at.scratch, view.program, view.kind, { starts: seen.at.starts, steps: 1, argument: (name) => [at[name] ?? seen.at[name], 0] });
    const found = {};
    for (const name of outputs) found[name] = core.floats(seen.at[name], name === "loss" ? 1 : name === "g" ? net.size : rows * widths[name]);
    return { ...found, loss: found.loss[0] };
  }

  free() {
    this.own.free();
    this.seen?.free();
  }
}

function accuracy(raw, y, outputs) {
  let right = 0;
  y.forEach((label, k) => {
    if (outputs === 1) right += (raw[k] > 0) === (label > 0.5);
    else {
      const row = raw.subarray(k * outputs, (k + 1) * outputs);
      right += row.indexOf(Math.max(...row)) === label;
    }
  });
  return right / y.length;
}

function r2(raw, y) {
  const mean = y.reduce((sum, value) => sum + value, 0) / y.length;
  let left = 0, spread = 0;
  y.forEach((value, k) => { left += (raw[k] - value) ** 2; spread += (value - mean) ** 2; });
  return spread > 0 ? 1 - left / spread : left > 0 ? 0 : 1;
}
