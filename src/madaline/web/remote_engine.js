// Answers of the server, and the start of its form page.
function remoteEngine(about, base, call) {
  const UNKNOWN = "another category";

  function sent(row) {
    const values = about.fields.map(field => {
      const value = row[field.name];
      return field.kind === "date" && typeof value === "string" && value.length === 16 ? `${value}:00` : value;
    });
    return about.hasNames ? Object.fromEntries(about.fields.map((field, k) => [field.name, values[k]])) : values;
  }

  function body(rows) {
    return JSON.stringify({[about.hasNames ? "dataframe_records" : "instances"]: rows.map(sent)});
  }

  const ofTarget = (value, name) => about.targets.length === 1 ? value : value[name];

  function answered(found, k) {
    const names = about.classes, p = found.probabilities && names.map(name => found.probabilities[k][name]);
    if (about.task === "multilabel") return {kind: "labels", names, p, label: p.indexOf(Math.max(...p))};
    if (names.length) {
      const label = about.values.indexOf(found.predictions[k]);
      if (p) return {kind: "classes", names, p, label};
      return {kind: "classes", names, p: names.map((_, at) => Number(at === label)), label, isScore: true, score: null};
    }
    return {kind: "numbers", values: about.targets.map(name => ({
      name, value: ofTarget(found.predictions[k], name),
      low: found.intervals && ofTarget(found.intervals[k].low, name),
      high: found.intervals && ofTarget(found.intervals[k].high, name),
    }))};
  }

  const query = about.classes.length ? (about.hasProbabilities ? "?proba=1" : "") : about.hasIntervals ? `?interval=${about.coverage}` : "";
  return {
    unknown: UNKNOWN, batch: 2000,
    async ask(rows) {
      const found = await call(`${base}/invocations${query}`, body(rows));
      const answers = rows.map((_, k) => answered(found, k));
      if (rows.length === 1) answers[0].warnings = (found.warnings || []).map(each => each.message);
      return answers;
    },
    async explain(row) {
      if (about.targets.length > 1 && about.task !== "multilabel") return null;
      const {explanations: [found]} = await call(`${base}/invocations?explain=1`, body([row]));
      return {base: found.base, prediction: found.prediction,
        parts: found.contributions.filter(each => about.fields.some(field => field.name === each.column))};
    },
    pause: () => new Promise(resolve => setTimeout(resolve, 60)),
  };
}

(() => {
  const place = id => document.getElementById(id);
  const base = location.pathname.startsWith("/models/") ? location.pathname.replace(/\/$/, "") : "";
  let token = "";

  async function call(path, body) {
    const headers = token ? {Authorization: `Bearer ${token}`} : {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const response = await fetch(path, {method: body === undefined ? "GET" : "POST", headers, body});
    const document = await response.json();
    if (response.ok) return document;
    throw Object.assign(new Error(document.message), {status: response.status});
  }

  function askToken() {
    const box = document.createElement("input"), button = document.createElement("button"), label = document.createElement("label");
    Object.assign(box, {type: "password", autocomplete: "off", id: "token"});
    Object.assign(button, {type: "submit", className: "plain", textContent: "Open"});
    label.htmlFor = "token";
    label.textContent = "Token of the server";
    const line = document.createElement("div"), field = document.createElement("div");
    line.className = "line";
    field.className = "field";
    line.append(label, box, button);
    field.append(line);
    place("form").replaceChildren(field);
    place("form").onsubmit = event => { event.preventDefault(); token = box.value; start(); };
    box.focus();
  }

  async function start() {
    try {
      const models = await call("/models"), schema = await call(`${base}/schema`);
      const about = schema["x-madaline"];
      place("form").onsubmit = null;
      place("title").textContent = document.title = `Prediction of ${about.targets.join(", ")}`;
      place("about").textContent = `Model ${about.name}. Change the inputs, and the answer follows.`;
      if (models.length > 1) {
        place("models").replaceChildren(...models.map(model => {
          const link = document.createElement("a");
          link.href = `/models/${encodeURIComponent(model.name)}`;
          link.textContent = model.name;
          return link;
        }));
      }
      startForm(about, remoteEngine(about, base, call));
    } catch (error) {
      if (error.status === 401) askToken();
      else place("about").textContent = error.message;
    }
  }
  start();
})();
