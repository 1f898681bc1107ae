// A training in a notebook: curves, statistics of the layers and the doctor's findings, drawn as in the playground.
// madaline.web.notebook sends them as the traits of an anywidget.

import { Curves } from "./curves.js";
import { showFindings } from "./doctor.js";
import { make, number } from "./text.js";

function render({ model, el }) {
  const status = make("b"), curves = make("div", { class: "curves" }), layers = make("div"), doctor = make("div", { class: "doctor", "aria-live": "polite" });
  const root = make("div", { class: "madaline-live" }, make("p", { role: "status" }, status), curves,
    make("div", { class: "below" }, make("div", {}, make("h2", {}, "Layers"), layers), make("div", {}, make("h2", {}, "Doctor"), doctor)));
  el.append(root);
  const charts = new Curves(curves);
  const draw = {
    status() { status.textContent = model.get("status"); },
    history() {
      const history = model.get("history"), epochs = history.loss?.length ?? 0, metric = model.get("metric");
      charts.charts[1].figure.hidden = !metric;
      charts.show([{ history, info: { loss: model.get("loss"), metric: metric || "none", heldOut: "validation" } }], epochs);
    },
    layers() { layers.replaceChildren(layerTable(model.get("layers"))); },
    findings() { showFindings(doctor, model.get("findings"), model.get("history").loss?.length ?? 0); },
  };
  const listeners = Object.entries(draw).map(([name, listener]) => [`change:${name}`, listener]);
  for (const [event, listener] of listeners) {
    model.on(event, listener);
    listener();
  }
  return () => listeners.forEach(([event, listener]) => model.off(event, listener));
}

function layerTable(layers) {
  if (!layers.length) return make("p", { class: "quiet" }, "After the first sample.");
  const columns = [["mean", "Mean"], ["std", "Spread"], ["zero", "Zeros"], ["gradient_norm", "Gradient"], ["update_ratio", "Update / weights"]];
  const shown = (layer, name) => (layer[name] === null ? "" : name === "zero" ? `${Math.round(100 * layer[name])} %` : number(layer[name], 2));
  return make("table", { class: "layers" },
    make("thead", {}, make("tr", {}, ...["Layer", ...columns.map(([, title]) => title)].map((title) => make("th", { scope: "col" }, title)))),
    make("tbody", {}, layers.map((layer) => make("tr", {}, make("th", { scope: "row" }, layer.layer), ...columns.map(([name]) => make("td", { class: "number" }, shown(layer, name)))))));
}

export default { render };
