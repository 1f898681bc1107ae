// Numbers beside the buttons: epoch, step, loss and metric.

import { make, number, shortened } from "./text.js";

const $ = (id) => document.getElementById(id);

// The numbers at the top, and the buttons that depend on the state of the run.
export function showNumbers(view, frame) {
  const { newest, info } = view;
  $("epoch-text").textContent = frame.epoch.toLocaleString("en");
  const part = frame.step % info.stepsAnEpoch;
  $("step-text").textContent = ` of ${info.settings.epochs.toLocaleString("en")}${part ? `, step ${part} of ${info.stepsAnEpoch}` : ""}`;
  const timeline = $("timeline"), last = newest.moments.length - 1;
  timeline.max = last;
  if (view.at === null) timeline.value = last;
  timeline.setAttribute("aria-valuetext", `epoch ${frame.epoch}`);
  const run = $("run"), isRunning = newest.status === "running";
  run.textContent = isRunning ? "Pause" : newest.status === "finished" ? "Finished" : newest.status === "failed" ? "Failed" : "Train";
  run.disabled = ["finished", "failed"].includes(newest.status);
  $("step").disabled = $("epoch").disabled = run.disabled;
  const metric = info.metric, row = frame.epoch - 1;
  const value = (name) => (row >= 0 ? view.history[name]?.[row] : undefined);
  const shown = (number_) => (metric === "accuracy" && number_ !== undefined ? `${(100 * number_).toFixed(1)} %` : number(number_));
  const score = (title, train, test, format) => make("div", {}, make("dt", {}, title), make("dd", {}, make("b", {}, format(test)), make("span", { class: "quiet" }, ` training ${format(train)}`)));
  $("scores").replaceChildren(score("Test loss", value("loss"), value("val_loss"), number), score(metric === "r2" ? "Test R²" : "Test accuracy", value(metric), value(`val_${metric}`), shown));
  document.body.dataset.status = newest.status;
  document.body.dataset.step = newest.step;
  document.body.dataset.run = view.id;
}

// What the points of a surface are.
export function legend(info) {
  const dot = (name) => make("i", { class: name });
  const [first, second] = info.axes.map((name) => shortened(name, 34));
  return [make("span", { class: "kinds" }, dot("full"), " training ", dot("hollow"), " test"),
    make("span", { class: "axes", title: info.axes.join(", ") }, info.extent.length === 1 ? `${second} over ${first}` : `→ ${first}, ↑ ${second}`)];
}

// How the run that was kept differs from the other one, and how good it is.
export function keptText(fields, kept, info) {
  const { frame, history } = kept, shown = (value) => (value === true ? "on" : value === false ? "off" : shortened(String(value), 40) || "none");
  const differs = fields.filter(({ name }) => String(kept.info.settings[name]) !== String(info.settings[name]));
  const settings = differs.map(({ name, label }) => `${label} ${shown(kept.info.settings[name])}`).join(", ");
  const loss = history.val_loss?.[frame.epoch - 1];
  return `Kept run${settings && `: ${settings}`}. Epoch ${frame.epoch.toLocaleString("en")}${loss === undefined ? "" : `, test loss ${number(loss)}`}`;
}
