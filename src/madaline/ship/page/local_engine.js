// Answers computed in the page by `predict` and `attribute`, which were written from the graph of the model.
function localEngine(about, predict, attribute) {
  const UNKNOWN = {};  // equal to no category
  const DAY = 86400000;

  function encoded(row) {
    const values = about.fields.map(field => {
      const value = row[field.name];
      if (field.kind === "category") return value == null ? -2 : field.categories.indexOf(value);
      if (value == null || value === "") return NaN;
      if (field.kind === "date") return Date.parse(value.length === 10 ? value : `${value}Z`) / DAY;
      return Number(value);
    });
    return about.isMatrix ? [Float64Array.from(values)] : values.map(value => Float64Array.of(value));
  }

  function answered(row) {
    const found = predict(encoded(row));
    if (about.output === "classes" || about.output === "labels") {
      const p = Array.from(found.probabilities || found.decision), names = about.classes;
      if (!found.probabilities && about.output === "classes") {
        const label = found.label[0];
        return {kind: "classes", names, p: names.map((_, k) => Number(k === label)), label, isScore: true, score: p.length === 1 ? p[0] : p[label]};
      }
      const label = about.output === "classes" ? found.label[0] : p.indexOf(Math.max(...p));
      return {kind: about.output, names, p, label};
    }
    const main = Array.from(found.prediction || found.mean || found.quantiles);
    if (found.quantiles) {
      return {kind: "numbers", values: main.map((value, k) => ({name: about.outputs[k], value}))};
    }
    return {kind: "numbers", values: about.targets.map((name, k) => ({
      name, value: main[k], low: found.low && found.low[k], high: found.high && found.high[k],
      note: found.std && `Standard deviation ${Number(found.std[k].toPrecision(4))}`,
    }))};
  }

  // Points and weights of a Gauss-Legendre quadrature on [0, 1]: the roots of a Legendre polynomial, by Newton's method.
  const known = new Map();
  function quadrature(n) {
    if (!known.has(n)) {
      known.set(n, Array.from({length: n}, (_, i) => {
        let x = Math.cos(Math.PI * (i + 0.75) / (n + 0.5)), slope = 1;
        for (let turn = 0; turn < 8; ++turn) {
          let before = 1, p = x;
          for (let k = 2; k <= n; ++k) [before, p] = [p, ((2 * k - 1) * x * p - (k - 1) * before) / k];
          slope = n * (x * p - before) / (x * x - 1);
          const step = p / slope;
          x -= step;
          if (Math.abs(step) < 1e-14) break;
        }
        return [0.5 * (1 + x), 1 / ((1 - x * x) * slope * slope)];
      }));
    }
    return known.get(n);
  }

  // Integrated gradients, with more points if the contributions do not add up; null if `isOld()` in the meantime.
  async function explained(row, answer, isOld) {
    if (!attribute) return null;
    const inputs = encoded(row), chosen = new Float64Array(about.nExplained), {steps, mostSteps, close} = about.integral;
    chosen[answer.kind === "numbers" ? 0 : answer.label] = 1;
    const at = share => attribute([...inputs, Float64Array.of(share), chosen]);
    const base = at(0).value[0], prediction = at(1).value[0], change = prediction - base;
    for (let n = steps; ; n *= 4) {
      const total = new Float64Array(about.fields.length), points = quadrature(n);
      for (let i = 0; i < n; ++i) {
        if (i % 64 === 63) {
          await pause();
          if (isOld()) return null;
        }
        const {parts} = at(points[i][0]);
        for (let k = 0; k < total.length; ++k) total[k] += points[i][1] * parts[k];
      }
      if (n >= mostSteps || Math.abs(total.reduce((a, b) => a + b) - change) <= close * Math.abs(change)) {
        return {base, prediction, parts: about.fields.map((field, k) => ({column: field.name, contribution: total[k]}))};
      }
    }
  }

  const pause = () => new Promise(resolve => setTimeout(resolve, 0));
  return {
    unknown: UNKNOWN, batch: 40,
    ask: async rows => rows.map(answered),
    explain: explained,
    pause,
  };
}
