// What is drawn of a net in the page: the same frames as madaline.web.play.frame makes.

const SURFACE = 72, CURVE = 160, SMALL = 24, MOST_ROWS = 1000, BINS = 24;

export class LocalView {
  constructor(net) {
    this.net = net;
    const { problem } = net;
    this.isSurface = problem.extent.length === 2;
    this.side = this.isSurface ? SURFACE : CURVE;
    const grid = problem.grid(this.side);
    this.gridRows = grid.length / problem.width;
    net.place("grid", grid);
    net.place("none", new Array(this.gridRows).fill(0), problem.task !== "numbers");
    net.own.add("shownW", net.net.size);
    net.own.add("shownState", net.own.count.state);
    this.inputs = this.#small(grid, problem.width);
    this.rows = Math.min(MOST_ROWS, problem.n);
  }

  // The arrays of a frame, and statistics of the layers.
  frame({ w, state, before }) {
    const { net } = this, { stages } = net.net, { own, problem } = net;
    own.floats("shownW").set(w);
    own.floats("shownState").set(state);
    const at = { w: "shownW", state: "shownState" };
    const maps = net.look("grid", "none", this.gridRows, at);
    const arrays = { output: this.#output(maps.shown), inputs: this.inputs };
    stages.slice(0, -1).forEach(([shape], place) => { arrays[`maps${place}`] = this.#small(maps[`units${place}`], shape[1]); });
    const rows = net.look("x", "y", this.rows, at);
    const update = w.map((value, k) => value - before[k]);
    const layers = stages.map(([shape, W, b], place) => {
      const size = shape[0] * shape[1];
      const part = (from) => Object.assign(from.slice(W, W + size), { shape });
      Object.assign(arrays, { [`W${place}`]: part(w), [`g${place}`]: part(rows.g), [`u${place}`]: part(update) });
      if (b >= 0) arrays[`b${place}`] = Object.assign(w.slice(b, b + shape[1]), { shape: [shape[1]] });
      const outputs = rows[`units${place}`] ?? rows.raw;
      return { ...statistics(outputs, shape[1], arrays[`g${place}`], arrays[`W${place}`]), path: String(place), units: shape[1] };
    });
    return { arrays, layers };
  }

  #output(shown) {
    const { outputs, problem } = this.net;
    if (problem.task === "numbers") return Object.assign(shown.filter((_, k) => k % outputs === 0), { shape: [this.gridRows, 1] });
    // One probability as a number, so that its boundary is smooth; several as bytes.
    const found = outputs === 1 ? Float32Array.from(shown, (value) => 255 * (value || 0)) : Uint8Array.from(shown, (value) => bytes(255 * value, 0));
    return Object.assign(found, { shape: [this.gridRows, outputs] });
  }

  // A small map or curve for each unit, 128 for 0.
  #small(values, units) {
    const pick = (count) => Array.from({ length: count }, (_, k) => Math.round((this.side - 1) * k / (count - 1)));
    const places = this.isSurface ? pick(SMALL).flatMap((row) => pick(SMALL).map((column) => row * this.side + column)) : pick(2 * SMALL);
    const found = new Uint8Array(units * places.length);
    for (let unit = 0; unit < units; unit++) {
      let largest = 1e-12;
      for (const place of places) largest = Math.max(largest, Math.abs(values[place * units + unit]));
      places.forEach((place, k) => { found[unit * places.length + k] = bytes(128 + 127 * values[place * units + unit] / largest, 128); });
    }
    return Object.assign(found, { shape: [units, places.length] });
  }
}

const bytes = (value, ifNone) => (Number.isNaN(value) ? ifNone : Math.round(Math.max(0, Math.min(255, value))));

function statistics(outputs, units, slope, weights) {
  const values = outputs.filter(Number.isFinite), n = values.length;
  if (!n) return { mean: null, std: null, dead: 0, low: 0, high: 1, bins: new Array(BINS).fill(0), gradient: null, weight: null };
  let low = Infinity, high = -Infinity, mean = 0, square = 0;
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); mean += value / n; }
  for (const value of values) square += (value - mean) ** 2 / n;
  const bins = new Array(BINS).fill(0), span = high > low ? high - low : 1;
  for (const value of values) bins[Math.min(BINS - 1, Math.floor(BINS * (value - low) / span))]++;
  const isAlive = new Array(units).fill(false);
  outputs.forEach((value, k) => { if (value !== 0) isAlive[k % units] = true; });
  return { mean, std: high > low ? Math.sqrt(square) : 0, dead: isAlive.filter((alive) => !alive).length, low, high, bins, gradient: size(slope), weight: size(weights) };
}

function size(values) {
  const found = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
  return Number.isFinite(found) ? found : null;
}
