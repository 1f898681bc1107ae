// The data of a run in the page: the same rows as madaline.web.play.problem makes.

import { EngineError } from "./engine.js";

const MARGIN = 0.12, RANGE = 6, STEPS = 36 * 36 - 1;
const LEAST_POINTS = 10, MOST_POINTS = 400;
export const FORMULAS = {
  x1: ([x]) => x, x2: ([, y]) => y, x1x1: ([x]) => x * x, x2x2: ([, y]) => y * y, x1x2: ([x, y]) => x * y,
  sin1: ([x]) => Math.sin(2 * x), sin2: ([, y]) => Math.sin(2 * y),
};

// `sets`: the generated data, `numbers`: their content.
export function makeProblem(core, settings, kind, about, sets, numbers) {
  const { at, y } = kind === "points" ? drawnPoints(core, settings) : generated(core, settings, kind, sets, numbers);
  const n = at.length - Math.max(1, rounded(settings.test * at.length));
  const isClass = kind !== "curves";
  const count = isClass ? Math.max(...y) + 1 : 0;
  if (isClass && new Set(y.slice(0, n)).size < 2) throw refused("All points are of one class. Draw points of at least two classes.");
  if (isClass && settings.flip) flip(core, settings, y, n, count);
  const dims = at[0].length, wanted = settings.features.split(",");
  const features = about.features.filter((each) => wanted.includes(each.name) && each.coordinates <= dims);
  if (!features.length) throw refused("The net needs at least one input.");
  const inputs = (places) => Float32Array.from(places.flatMap((place) => features.map((each) => FORMULAS[each.name](place))));
  const extent = extentOf(at, dims);
  return {
    task: !isClass ? "numbers" : count === 2 ? "binary" : "classes",
    n, nTest: at.length - n, width: features.length, count, extent, inputs,
    labels: features.map((each) => each.label),
    X: inputs(at.slice(0, n)), y: y.slice(0, n), XTest: inputs(at.slice(n)), yTest: y.slice(n),
    training: { at: at.slice(0, n), y: y.slice(0, n) }, test: { at: at.slice(n), y: y.slice(n) },
    axes: dims === 1 ? ["x", "y"] : ["x₁", "x₂"],
    grid: (side) => inputs(gridOf(extent, side)),
  };
}

export const refused = (message) => new EngineError(422, { message });

function generated(core, settings, kind, sets, numbers) {
  let place = 0;
  for (const { name, n, draw, width, state } of sets) {
    if (name === settings.data && n === settings.n && draw === settings.draw) {
      const at = Array.from({ length: n }, (_, k) => Array.from({ length: width }, (_, c) => numbers[place + k * width + c]));
      const y = Array.from(numbers.subarray(place + n * width, place + n * (width + 1)));
      core.seedState(state);
      const noise = core.normal(kind === "shapes" ? n * width : n);
      if (kind === "shapes") at.forEach((point, k) => point.forEach((_, c) => { point[c] += settings.noise * noise[k * width + c]; }));
      else y.forEach((_, k) => { y[k] += settings.noise * noise[k]; });
      return { at, y };
    }
    place += n * (width + 1);
  }
  const known = (name) => [...new Set(sets.map((each) => each[name]))].join(" or ");
  throw refused(`This page has data of ${known("n")} points with data seed ${known("draw")}. madaline play has any.`);
}

function drawnPoints(core, settings) {
  const text = settings.points, count = text.length / 5;
  if (!/^([0-9a-z]{4}[0-3])*$/.test(text)) throw refused("The drawn points of the link are damaged.");
  if (count < LEAST_POINTS || count > MOST_POINTS) throw refused(`There are ${count} points. Draw ${LEAST_POINTS} to ${MOST_POINTS}, of at least two classes.`);
  core.seedNumbers(settings.draw);
  const order = core.order(count);
  const digits = (k, start) => parseInt(text.slice(5 * k + start, 5 * k + start + 2), 36) / STEPS * 2 * RANGE - RANGE;
  return { at: order.map((k) => [digits(k, 0), digits(k, 2)]), y: order.map((k) => Number(text[5 * k + 4])) };
}

function flip(core, settings, y, n, count) {
  core.seedNumbers(settings.draw, 1);
  const wrong = [...core.uniform(n).entries()].filter(([, chance]) => chance < settings.flip).map(([k]) => k);
  const classes = core.below(count, wrong.length);
  wrong.forEach((row, k) => { y[row] = classes[k]; });
}

function extentOf(at, dims) {
  let found = Array.from({ length: dims }, (_, c) => [Math.min(...at.map((p) => p[c])), Math.max(...at.map((p) => p[c]))]);
  const spans = found.map(([low, high]) => (high > low ? high - low : 1));
  if (dims === 2 && Math.max(...spans) < 4 * Math.min(...spans)) {
    const span = Math.max(...spans);
    found = found.map(([low, high]) => [(low + high) / 2 - span / 2, (low + high) / 2 + span / 2]);
    spans.fill(span);
  }
  return found.map(([low, high], c) => [low - MARGIN * spans[c], high + MARGIN * spans[c]]);
}

function gridOf(extent, side) {
  const line = ([low, high]) => Array.from({ length: side }, (_, k) => low + (high - low) * k / (side - 1));
  const across = line(extent[0]);
  return extent.length === 1 ? across.map((x) => [x]) : line(extent[1]).flatMap((y) => across.map((x) => [x, y]));
}

// As Python rounds: halves to the even neighbour.
function rounded(value) {
  const low = Math.floor(value), rest = value - low;
  return rest > 0.5 || (rest === 0.5 && low % 2) ? low + 1 : low;
}
