// The net: a map in every unit, weights as lines. Everything that can be hovered can be focused.

import { CLASSES, css, diverging, table } from "./colours.js";
import { draw, make, number, shortened } from "./text.js";

const MOST_SHOWN = 12;
// Height of the buttons above a column, width of a column, and least room for a name; the second ones if the net is too wide for its place.
const HEADS = [{ top: 64, column: 100, name: 66 }, { top: 92, column: 74, name: 100 }];

export class Network {
  constructor(host, hint, actions) {
    this.host = host;
    this.hint = hint;
    this.actions = actions;
    this.plan = "";
    const shut = (to) => {
      const menu = host.querySelector(".choose[open]");
      if (!menu || menu.contains(to)) return;
      if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
      menu.open = false;
    };
    addEventListener("pointerdown", (event) => shut(event.target));
    addEventListener("keydown", (event) => { if (event.key === "Escape") shut(null); });
  }

  // `layers`: [{units, activation}]; `activations`: choices.
  show(info, frame, layers, activations, most, available, chosen) {
    this.info = info;
    this.frame = frame;
    const plan = JSON.stringify([info.inputs, layers, info.outputs, available, chosen, this.host.clientWidth]);
    if (plan !== this.plan) {
      this.plan = plan;
      this.#build(info, layers, activations, most, available, chosen);
    }
    this.redraw();
  }

  #build(info, layers, activations, limits, available, chosen) {
    const active = this.host.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.isChoosing = this.host.querySelector(".choose")?.open ?? false;
    const columns = [info.inputs.length, ...layers.map((layer) => layer.units), info.outputs];
    const shown = columns.map((count) => Math.min(count, MOST_SHOWN));
    const tallest = Math.max(...shown);
    const size = Math.max(18, Math.min(38, Math.floor(340 / tallest) - 8));
    const gap = Math.max(5, Math.min(14, Math.floor((340 - tallest * size) / Math.max(tallest - 1, 1))));
    // Room for names beside the first and the last column, less if the net is deep.
    const outer = this.host.clientWidth - 2, between = columns.length - 1;
    const wanted = HEADS.map(({ column, name: least }) => {
      const most = Math.max(least, Math.min(140, (outer - column * between) / 2 - size / 2 - 8)), letters = Math.floor((most - 8) / 6.6);
      const room = (names) => Math.max(column / 2 + 8, 8 + 6.6 * Math.min(letters, Math.max(0, ...names.map((name) => name.length))) + size / 2 + 8);
      const left = room(info.inputs), right = room(info.classes.length > 2 ? info.classes : []);
      return { letters, left, right, width: left + right + column * between };
    });
    const isNarrow = wanted[0].width > outer, { letters, left, right } = wanted[Number(isNarrow)], { top } = HEADS[Number(isNarrow)];
    Object.assign(this, { letters, left });
    const width = Math.max(outer, wanted[Number(isNarrow)].width), height = top + Math.max(tallest * (size + gap), 170) + 14;
    const across = (width - left - right) / between;
    this.size = size;
    this.svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "presentation" });
    this.lines = draw("g", { class: "weights" });
    this.svg.append(this.lines);
    this.stage = make("div", { class: isNarrow ? "stage narrow" : "stage", style: `width:${width}px;height:${height}px` }, this.svg);
    this.columns = columns.map((count, place) => {
      const x = this.left + across * place;
      const total = shown[place] * (size + gap) - gap;
      const start = top + Math.max(0, (Math.max(tallest * (size + gap) - gap, 160) - total) / 2);
      const units = Array.from({ length: shown[place] }, (_, unit) => this.#unit(place, unit, x, start + unit * (size + gap), columns.length));
      if (count > shown[place]) {
        this.stage.append(make("span", { class: "more", style: `left:${x - 50}px;top:${start + total + 2}px` }, `and ${count - shown[place]} more`));
      }
      return units;
    });
    this.#edges();
    this.#heads(layers, activations, limits, across, columns, available, chosen);
    this.host.replaceChildren(this.stage);
    if (active) this.host.querySelector(`[data-key="${active}"]`)?.focus();
  }

  #unit(column, unit, x, y, count) {
    const size = this.size, isOutput = column === count - 1;
    const canvas = make("canvas", {
      class: "unit", width: 24, height: 24, tabindex: "0", role: "img",
      style: `left:${x - size / 2}px;top:${y}px;width:${size}px;height:${size}px`,
      onpointerenter: (event) => this.#tell(column, unit, event.target),
      onfocus: (event) => this.#tell(column, unit, event.target),
      onpointerleave: () => this.#hide(),
      onblur: () => this.#hide(),
    });
    const name = this.#name(column, unit);
    canvas.setAttribute("aria-label", name);
    if (column === 0 || (isOutput && this.info.classes.length > 2)) {
      const side = column === 0 ? `right:calc(100% - ${x - size / 2 - 6}px)` : `left:${x + size / 2 + 6}px`;
      this.stage.append(make("span", { class: "name", style: `${side};top:${y + size / 2 - 9}px`, title: name }, shortened(column === 0 ? this.info.inputs[unit] : this.info.classes[unit], this.letters)));
    }
    this.stage.append(canvas);
    return { canvas, x, y: y + size / 2 };
  }

  #name(column, unit) {
    const last = this.columns ? this.columns.length - 1 : -1;
    if (column === 0) return `Input ${this.info.inputs[unit]}`;
    return column === last ? `Output ${this.info.classes[unit] ?? ""}`.trim() : `Unit ${unit + 1} of hidden layer ${column}`;
  }

  #edges() {
    this.edges = [];
    for (let column = 1; column < this.columns.length; column++) {
      for (const [to, target] of this.columns[column].entries()) {
        for (const [from, source] of this.columns[column - 1].entries()) {
          const x0 = source.x + this.size / 2, x1 = target.x - this.size / 2, half = (x1 - x0) / 2;
          const path = draw("path", {
            d: `M${x0} ${source.y}C${x0 + half} ${source.y} ${x1 - half} ${target.y} ${x1} ${target.y}`, fill: "none",
            onpointerenter: (event) => this.#tellWeight(column - 1, from, to, event),
            onpointerleave: () => this.#hide(),
          });
          this.lines.append(path);
          this.edges.push({ path, stage: column - 1, from, to });
        }
      }
    }
  }

  #heads(layers, activations, most, across, columns, available, chosen) {
    const act = this.actions;
    const head = (place, ...children) => this.stage.append(make("div", { class: "head", style: `left:${this.left + across * place}px` }, ...children));
    if (available.length) {
      head(0, make("details", { class: "choose", open: this.isChoosing }, make("summary", { "data-key": "inputs" }, "Inputs"),
        make("div", { class: "menu" }, available.map((feature) => make("label", {},
          make("input", { type: "checkbox", "data-key": `input ${feature.name}`, checked: chosen.includes(feature.name), onchange: (event) => act.feature(feature.name, event.target.checked) }), ` ${feature.label}`)))));
    } else head(0, make("span", { class: "quiet" }, `${info_count(columns[0], "input")}`));
    layers.forEach((layer, place) => {
      const button = (key, label, text, press, off) => make("button", { type: "button", "aria-label": label, title: label, "data-key": `${key}${place}`, disabled: off, onclick: press }, text);
      head(place + 1,
        make("div", { class: "count" },
          button("less", `Remove a unit from hidden layer ${place + 1}`, "−", () => act.units(place, layer.units - 1), layer.units <= 1),
          make("input", { type: "number", min: 1, max: most.units, value: layer.units, "aria-label": `Units of hidden layer ${place + 1}`, "data-key": `units${place}`, onchange: (event) => act.units(place, Math.round(Math.min(most.units, Math.max(1, Number(event.target.value) || layer.units)))) }),
          button("add", `Add a unit to hidden layer ${place + 1}`, "+", () => act.units(place, layer.units + 1), layer.units >= most.units),
          button("drop", `Remove hidden layer ${place + 1}`, "×", () => act.remove(place))),
        make("select", { "aria-label": `Activation of hidden layer ${place + 1}`, "data-key": `activation${place}`, onchange: (event) => act.activation(place, event.target.value) },
          activations.map((choice) => make("option", { value: choice.value, selected: choice.value === layer.activation, title: choice.title }, choice.value))));
    });
    head(columns.length - 1, make("button", { type: "button", "data-key": "layer", disabled: layers.length >= most.layers, onclick: act.layer }, "+ layer"), make("span", { class: "quiet" }, info_count(columns.at(-1), "output")));
  }

  redraw() {
    const { frame } = this;
    if (!frame || !this.columns) return;
    const { arrays } = frame;
    const dims = this.info.extent.length;
    this.columns.forEach((units, column) => units.forEach(({ canvas }, unit) => {
      const maps = column === 0 ? arrays.inputs : arrays[`maps${column - 1}`];
      if (column === this.columns.length - 1) this.#output(canvas, unit, dims);
      else if (maps) thumbnail(canvas, maps.subarray(unit * maps.shape[1], (unit + 1) * maps.shape[1]), dims);
    }));
    const largest = {};
    for (const { stage } of this.edges) largest[stage] ??= strongest(arrays[`W${stage}`]);
    for (const { path, stage, from, to } of this.edges) {
      const weights = arrays[`W${stage}`];
      if (!weights || from >= weights.shape[0] || to >= weights.shape[1]) continue;
      const weight = weights[from * weights.shape[1] + to], share = Math.min(1, Math.abs(weight) / largest[stage]);
      path.setAttribute("stroke", CLASSES[weight < 0 ? 0 : 1]);
      path.setAttribute("stroke-width", (0.4 + 4.2 * share).toFixed(2));
      path.setAttribute("stroke-opacity", (0.12 + 0.68 * share).toFixed(2));
    }
  }

  #output(canvas, unit, dims) {
    const output = this.frame.arrays.output, count = output.shape[1];
    if (dims === 1) {
      const values = Float32Array.from({ length: output.shape[0] }, (_, k) => output[k * count + unit]);
      const most = Math.max(1e-9, ...values.map(Math.abs));
      const isByte = this.info.task !== "numbers";
      thumbnail(canvas, Uint8Array.from(values, (v) => (isByte ? v : 127.5 + 127 * v / most)), 1);
      return;
    }
    const n = Math.round(Math.sqrt(output.shape[0])), scale = this.info.scale ?? 1;
    const values = new Uint8Array(576);
    for (let row = 0; row < 24; row++) {
      for (let column = 0; column < 24; column++) {
        const value = output[(Math.round(row * (n - 1) / 23) * n + Math.round(column * (n - 1) / 23)) * count + unit];
        values[row * 24 + column] = this.info.task === "numbers" ? Math.max(0, Math.min(255, 127.5 + 127.5 * value / scale)) : value;
      }
    }
    thumbnail(canvas, values, 2);
  }

  #tell(column, unit, canvas) {
    const { arrays } = this.frame ?? {};
    if (!arrays) return;
    const rows = [make("b", {}, this.#name(column, unit))];
    const weights = arrays[`W${column - 1}`];
    if (weights) {
      const [n, m] = weights.shape;
      const bias = arrays[`b${column - 1}`];
      const order = Array.from({ length: n }, (_, k) => k).sort((a, b) => Math.abs(weights[b * m + unit]) - Math.abs(weights[a * m + unit])).slice(0, 6);
      const named = (k) => (column === 1 ? shortened(this.info.inputs[k], 30) : `unit ${k + 1}`);
      rows.push(make("table", {}, make("tr", {}, make("th", {}, "from"), make("th", {}, "weight"), make("th", {}, "gradient"), make("th", {}, "update")),
        order.map((k) => make("tr", {}, make("td", {}, named(k)), ...["W", "g", "u"].map((letter) => make("td", {}, number(arrays[`${letter}${column - 1}`][k * m + unit])))))));
      if (bias) rows.push(make("div", {}, `bias ${number(bias[unit])}`));
    }
    this.#put(rows, canvas.getBoundingClientRect());
  }

  #tellWeight(stage, from, to, event) {
    const { arrays } = this.frame ?? {};
    const weights = arrays?.[`W${stage}`];
    if (!weights) return;
    const at = from * weights.shape[1] + to;
    event.target.classList.add("lit");
    this.#put([make("b", {}, `${this.#name(stage, from)} → ${this.#name(stage + 1, to).toLowerCase()}`),
      make("div", {}, `weight ${number(weights[at])}`), make("div", {}, `gradient ${number(arrays[`g${stage}`][at])}`),
      make("div", {}, `last update ${number(arrays[`u${stage}`][at])}`)],
    { left: event.clientX, right: event.clientX, top: event.clientY, bottom: event.clientY + 8 });
  }

  #put(children, box) {
    this.hint.replaceChildren(...children);
    this.hint.hidden = false;
    const { width, height } = this.hint.getBoundingClientRect();
    this.hint.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, box.right + 8))}px`;
    this.hint.style.top = `${Math.max(8, Math.min(innerHeight - height - 8, box.bottom + 4))}px`;
  }

  #hide() {
    this.hint.hidden = true;
    this.lines.querySelectorAll(".lit").forEach((line) => line.classList.remove("lit"));
  }
}

const info_count = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

function strongest(weights) {
  let found = 1e-9;
  for (const weight of weights ?? []) if (Math.abs(weight) > found) found = Math.abs(weight);
  return found;
}

// A map of 24 x 24 bytes from below, or a curve.
export function thumbnail(canvas, values, dims) {
  const pen = canvas.getContext("2d");
  if (dims === 2) {
    if (canvas.width !== 24) canvas.width = canvas.height = 24;
    const image = pen.createImageData(24, 24), colours = table(0.95);
    for (let row = 0; row < 24; row++) {
      for (let column = 0; column < 24; column++) {
        const byte = values[(23 - row) * 24 + column], to = 4 * (row * 24 + column);
        image.data[to] = colours[3 * byte]; image.data[to + 1] = colours[3 * byte + 1]; image.data[to + 2] = colours[3 * byte + 2];
        image.data[to + 3] = 255;
      }
    }
    pen.putImageData(image, 0, 0);
    return;
  }
  const side = 76;
  if (canvas.width !== side) canvas.width = canvas.height = side;
  pen.fillStyle = css(diverging(0));
  pen.fillRect(0, 0, side, side);
  pen.beginPath();
  values.forEach((byte, k) => {
    const x = side * k / (values.length - 1), y = side * (0.92 - 0.84 * byte / 255);
    if (k) pen.lineTo(x, y); else pen.moveTo(x, y);
  });
  pen.strokeStyle = CLASSES[1];
  pen.lineWidth = 5;
  pen.lineJoin = "round";
  pen.stroke();
}
