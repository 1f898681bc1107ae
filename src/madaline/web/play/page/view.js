// A run as the page sees it: what it is, its newest frame, and its history.

export class RunView {
  constructor(engine, info) {
    this.engine = engine;
    this.info = info;
    this.history = {};
    this.frame = null;
    this.newest = null;
    this.at = null;
    this.isOpen = true;
    this.isLost = false;  // closed by the server
    this.waiting = new AbortController();
  }

  get id() { return this.info.run; }

  get status() { return this.newest?.status ?? "paused"; }

  // Ask for frames as long as the run is open. `drawn(view)` is called for each, `failed(view, error)` if there is no
  // answer; it says whether to go on asking. `back(view)` is called for the first answer after that.
  async follow({ drawn, failed, back = () => {} }) {
    let isLost = false;
    while (this.isOpen) {
      const asked = performance.now();
      try {
        const rows = Object.values(this.history)[0]?.length ?? 0;
        const frame = await this.engine.frame(this.id, { seen: this.newest?.version ?? null, rows, signal: this.waiting.signal });
        if (!this.isOpen) return;
        if (isLost) back(this);
        isLost = false;
        if (frame) {
          this.#take(frame);
          await new Promise(requestAnimationFrame);
          if (this.isOpen) drawn(this);
          // At most 30 frames a second: more would only slow down the training.
          await new Promise((done) => setTimeout(done, 33 - (performance.now() - asked)));
        }
        while (document.hidden && this.isOpen) await new Promise((done) => setTimeout(done, 300));
      } catch (error) {
        if (!this.isOpen || error.name === "AbortError") return;
        isLost = true;
        if (!(await failed(this, error))) return;
      }
    }
  }

  #take(frame) {
    for (const [name, values] of Object.entries(frame.history)) {
      this.history[name] = [...(this.history[name] ?? []).slice(0, frame.first), ...values];
    }
    this.newest = frame;
    if (this.at === null) this.frame = frame;
  }

  // Show an earlier moment, or the newest one (null).
  async look(at) {
    this.at = at;
    if (at === null) this.frame = this.newest;
    else {
      const frame = await this.engine.frame(this.id, { at, rows: 1_000_000_000 });
      if (this.at === at && frame) this.frame = frame;
    }
  }

  command(action, value) { return this.engine.command(this.id, action, value); }

  close() {
    this.isOpen = false;
    this.waiting.abort();
    this.engine.close(this.id).catch(() => {});
  }
}
