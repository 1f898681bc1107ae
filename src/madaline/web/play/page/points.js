// Points drawn by hand. A point is five characters: two digits in base 36 for each coordinate, and its class.

import { CLASSES } from "./colours.js";
import { make } from "./text.js";

const RANGE = 6, STEPS = 36 * 36 - 1, NEAR = 0.4;

export class PointEditor {
  constructor(most, changed) {
    this.most = most;
    this.changed = changed;
    this.points = [];
    this.pen = 0;
    this.buttons = [0, 1, 2].map((which) => make("button", { type: "button", class: "pen", "aria-pressed": which === 0, onclick: () => this.#choose(which) }, make("i", { style: `background:${CLASSES[which]}` }), ` class ${which}`));
    this.element = make("div", { class: "pens", hidden: true }, make("p", { class: "quiet" }, "Draw points on the result: press and drag. Shift removes. With keys: arrows, Enter, Delete."),
      ...this.buttons, make("button", { type: "button", onclick: () => { this.points = []; this.changed(""); } }, "Clear"));
    document.getElementById("sources").after(this.element);
  }

  #choose(which) {
    this.pen = which;
    this.buttons.forEach((button, k) => button.setAttribute("aria-pressed", k === which));
  }

  show(isShown, text) {
    this.element.hidden = !isShown;
    if (isShown && text !== this.text()) {
      this.points = [];
      for (let k = 0; k + 5 <= text.length; k += 5) {
        const at = (start) => parseInt(text.slice(k + start, k + start + 2), 36) / STEPS * 2 * RANGE - RANGE;
        this.points.push([at(0), at(2), Number(text[k + 4])]);
      }
    }
  }

  press(x, y, remove, draw) {
    if (Math.abs(x) > RANGE || Math.abs(y) > RANGE) return;
    const near = this.points.findIndex(([a, b]) => Math.hypot(a - x, b - y) < NEAR);
    if (remove) {
      if (near < 0) return;
      this.points.splice(near, 1);
    } else if (this.points.length < this.most) this.points.push([x, y, this.pen]);
    draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.changed(this.text()), 350);
  }

  text() {
    const code = (value) => Math.round((value + RANGE) / (2 * RANGE) * STEPS).toString(36).padStart(2, "0");
    return this.points.map(([x, y, kind]) => `${code(x)}${code(y)}${kind}`).join("");
  }

  // The points alone, before there is a run.
  info() {
    return {
      task: "classes", classes: ["class 0", "class 1", "class 2"], extent: [[-RANGE, RANGE], [-RANGE, RANGE]], axes: ["x₁", "x₂"],
      training: { at: this.points.map(([x, y]) => [x, y]), y: this.points.map((point) => point[2]) }, test: { at: [], y: [] },
    };
  }

  // A run with the points of now, some of which it does not know yet.
  over(info) {
    const known = new Set([...info.training.at, ...info.test.at].map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`));
    const fresh = this.points.filter(([x, y]) => !known.has(`${x.toFixed(2)} ${y.toFixed(2)}`));
    if (!fresh.length) return info;
    return { ...info, training: { at: [...info.training.at, ...fresh.map(([x, y]) => [x, y])], y: [...info.training.y, ...fresh.map((point) => point[2])] } };
  }
}
