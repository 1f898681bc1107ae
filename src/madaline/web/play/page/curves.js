// Loss and metric after every epoch, of one run or two.

import { draw, make, number, ticks } from "./text.js";

const WIDTH = 400, HEIGHT = 150, LEFT = 44, BOTTOM = 20, TOP = 10, RIGHT = 8;
const MOST = 300;

export class Curves {
  constructor(host) {
    this.host = host;
    this.charts = [this.#chart("Loss"), this.#chart("Metric")];
    host.append(...this.charts.map((chart) => chart.figure));
  }

  #chart(title) {
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "chart" });
    const name = make("span", {}, title);
    const legend = make("span", { class: "legend" });
    const figure = make("figure", { class: "curve" }, make("figcaption", {}, name, legend), svg);
    return { svg, name, legend, figure };
  }

  // `runs`: [{history, info}], the first one in full colours; `at`: the epoch that is shown.
  show(runs, at) {
    const metric = runs[0].info.metric;
    this.#draw(this.charts[0], runs, "loss", ["Loss", runs[0].info.loss && `(${runs[0].info.loss.replaceAll("_", " ")})`].filter(Boolean).join(" "), at, true);
    this.#draw(this.charts[1], runs, metric, metric === "r2" ? "R²" : "Accuracy", at, false);
  }

  #draw(chart, runs, column, title, at, canBeLog) {
    const { svg } = chart;
    chart.name.textContent = title;
    const lines = [];
    runs.forEach(({ history }, which) => {
      for (const [name, kind] of [[column, "train"], [`val_${column}`, "test"]]) {
        if (history[name]?.length) lines.push({ values: history[name], kind, which });
      }
    });
    const heldOut = runs[0].info.heldOut ?? "test";
    if (chart.keys !== runs.length) {
      chart.keys = runs.length;
      chart.legend.replaceChildren(make("i", { class: "train" }), "training ", make("i", { class: "test" }), heldOut, ...(runs.length > 1 ? [make("i", { class: "kept" }), "kept run"] : []));
    }
    const finite = lines.flatMap((line) => line.values).filter((value) => Number.isFinite(value));
    if (!finite.length) {
      svg.replaceChildren(draw("text", { x: WIDTH / 2, y: HEIGHT / 2, class: "empty" }, "after the first epoch"));
      return;
    }
    const done = Math.max(...lines.map((line) => line.values.length)), epochs = Math.max(2, done);
    const smallest = Math.min(...finite), largest = Math.max(...finite);
    const isLog = canBeLog && smallest > 0 && largest / smallest > 30;
    const f = isLog ? Math.log10 : (value) => value;
    let low = canBeLog && !isLog ? Math.min(0, smallest) : f(smallest), high = f(largest);
    if (!canBeLog) { low = Math.max(Math.min(low, high - 0.05), -1); high = Math.min(1, Math.max(high, low + 0.05)); }
    if (high - low < 1e-9) high = low + 1e-3;
    const x = (epoch) => LEFT + (WIDTH - LEFT - RIGHT) * (epoch - 1) / (epochs - 1);
    const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (high - Math.max(low, Math.min(high, f(value)))) / (high - low);
    const marks = isLog ? powers(low, high) : ticks(low, high);
    const parts = marks.map((mark) => [
      draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(mark), y2: y(mark), class: "grid" }),
      draw("text", { x: LEFT - 6, y: y(mark) + 4, class: "tick" }, number(mark, 2)),
    ]);
    parts.push(draw("text", { x: WIDTH - RIGHT, y: HEIGHT - 4, class: "tick" }, `epoch ${(runs[0].info.epochs ?? done).toLocaleString("en")}`));
    for (const { values, kind, which } of lines) {
      const stride = Math.max(1, Math.ceil(values.length / MOST));
      let path = "";
      values.forEach((value, k) => {
        if (k % stride && k !== values.length - 1) return;
        if (Number.isFinite(value)) path += `${path ? "L" : "M"}${x(k + 1).toFixed(1)} ${y(value).toFixed(1)}`;
      });
      if (values.length === 1 && path) path += "h0";  // one epoch is a dot
      parts.push(draw("path", { d: path, class: `line ${kind}${which ? " kept" : ""}` }));
    }
    if (at > 0) parts.push(draw("line", { x1: x(at), x2: x(at), y1: TOP, y2: HEIGHT - BOTTOM, class: "now" }));
    svg.replaceChildren(...parts.flat());
    const last = (kind) => lines.find((line) => line.kind === kind && !line.which)?.values.at(-1);
    svg.setAttribute("aria-label", `${title} after ${runs[0].info.epochs ?? done} epochs: training ${number(last("train"))}, ${heldOut} ${number(last("test"))}`);
  }
}

function powers(low, high) {
  const found = [];
  for (let power = Math.ceil(low); power <= high; power++) found.push(10 ** power);
  return found.length > 1 ? found.filter((_, k) => k % Math.ceil(found.length / 5) === 0) : [10 ** low, 10 ** high];
}
