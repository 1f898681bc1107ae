// A run in the page: trains between the frames, as far as it is told; the same rules as madaline.web.play.run.

import { LocalView } from "./local_view.js";

const MOST_SNAPSHOTS = 400, MOST_NUMBERS = 4_000_000;
const SLICE = 9;
const WAIT = 1000;

export class LocalRun {
  constructor(net) {
    this.net = net;
    this.view = new LocalView(net);
    this.status = "paused";
    this.message = "";
    this.version = this.step = this.epoch = 0;
    this.history = {};
    this.snapshots = [];
    this.stride = 1;
    this.count = this.delay = 0;
    this.goal = 0;
    this.changed = () => {};
    this.#keep();
    this.version++;
  }

  get total() { return this.net.settings.epochs * this.net.steps; }

  command(action, value) {
    const { step, net } = this;
    const goals = { run: Infinity, pause: 0, step: step + 1, epoch: (Math.floor(step / net.steps) + 1) * net.steps, until: value };
    if (action === "delay") this.delay = 1000 * value;
    else this.goal = Math.min(goals[action], this.total);
    if (!this.isTraining) this.#train();
  }

  async #train() {
    this.isTraining = true;
    let due = performance.now();
    while (!this.isClosed && this.goal > this.step && this.status !== "failed") {
      this.#tell("running");
      const until = performance.now() + SLICE;
      do {
        this.#advance();
        due = Math.max(due + this.delay, performance.now() - 100);
      } while (this.goal > this.step && this.status !== "failed" && performance.now() < until && due <= performance.now());
      // At the goal there is nothing to wait for: the page says at once that the run rests.
      if (this.goal > this.step) await pause(this.delay ? due - performance.now() : 0);
    }
    this.isTraining = false;
    if (!this.isClosed && this.status !== "failed") this.#tell(this.step >= this.total ? "finished" : "paused");
  }

  // To the end of the epoch, or to the goal.
  #advance() {
    const { net } = this, first = this.step % net.steps;
    const last = Math.min(net.steps, first + this.goal - this.step);
    const { steps, isFinite } = net.train(this.epoch, first, last);
    this.step += steps;
    if (!isFinite) {
      const text = `The loss of step ${this.step + 1} (epoch ${this.epoch + 1}) is not finite. Lower the learning rate, or standardize the inputs.`;
      this.#tell("failed", text);
      return;
    }
    if (last === net.steps) {
      this.epoch++;
      for (const [name, value] of Object.entries(net.scores())) (this.history[name] ??= []).push(value);
    }
    this.#keep();
    this.version++;
    this.changed();
  }

  #tell(status, message = "") {
    if (this.status === status) return;
    Object.assign(this, { status, message });
    this.version++;
    this.changed();
  }

  #keep() {
    const kept = this.snapshots, w = this.net.w.slice();
    const snapshot = { step: this.step, epoch: this.epoch, w, state: this.net.state.slice(), before: kept.at(-1)?.w ?? w };
    if (kept.length && this.count % this.stride) kept.pop();
    kept.push(snapshot);
    this.count++;
    const most = Math.min(MOST_SNAPSHOTS, Math.max(20, Math.floor(MOST_NUMBERS / Math.max(2 * w.length, 1))));
    if (kept.length > most) {
      this.snapshots = [...kept.slice(0, -1).filter((_, k) => k % 2 === 0), kept.at(-1)];
      this.stride *= 2;
    }
  }

  // The frame at a step, or the newest one as soon as it is newer than the one that was seen.
  async frame({ seen, rows, at, signal }) {
    if (at === null && this.version === seen) {
      await Promise.race([new Promise((done) => { this.changed = done; }), pause(WAIT)]);
      if (signal?.aborted || this.version === seen) return null;
    }
    const kept = this.snapshots;
    const snapshot = at === null ? kept.at(-1) : kept.reduce((best, each) => (Math.abs(each.step - at) < Math.abs(best.step - at) ? each : best));
    return {
      status: this.status, message: this.message, version: this.version, step: snapshot.step, epoch: snapshot.epoch,
      last: this.step, first: rows, moments: kept.map((each) => each.step), ...this.view.frame(snapshot),
      history: Object.fromEntries(Object.entries(this.history).map(([name, values]) => [name, values.slice(rows)])),
    };
  }

  close() {
    this.isClosed = true;
    this.changed();
    this.net.free();
  }
}

// Let the page work; timers of browsers wait at least four milliseconds, messages do not.
const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();
const pause = (milliseconds) => new Promise((done) => {
  if (milliseconds > 0) return void setTimeout(done, milliseconds);
  waiting.push(done);
  channel.port2.postMessage(null);
});
