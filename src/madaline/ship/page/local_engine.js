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

  // Integrated gradients: the points and weights are those of a Gauss-Legendre quadrature on [0, 1].
  function explained(row, answer) {
    if (!attribute || !about.quadrature) return null;
    const inputs = encoded(row), chosen = new Float64Array(about.nExplained);
    chosen[answer.kind === "numbers" ? 0 : answer.label] = 1;
    const at = share => attribute([...inputs, Float64Array.of(share), chosen]);
    const total = new Float64Array(about.fields.length);
    for (const [share, weight] of about.quadrature) {
      const {parts} = at(share);
      for (let k = 0; k < total.length; ++k) total[k] += weight * parts[k];
    }
    return {
      base: at(0).value[0], prediction: at(1).value[0],
      parts: about.fields.map((field, k) => ({column: field.name, contribution: total[k]})),
    };
  }

  return {
    unknown: UNKNOWN, batch: 40,
    ask: async rows => rows.map(answered),
    explain: async (row, answer) => explained(row, answer),
    pause: () => new Promise(resolve => setTimeout(resolve, 0)),
  };
}
