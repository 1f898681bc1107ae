// The picture of what the net has learned: a decision surface, or a fitted curve, with training and test points.

import { CLASSES, blended, css, diverging, isDark, table } from "./colours.js";
import { make, number, ticks } from "./text.js";

const RADIUS = 3.2;

export class Surface {
  constructor(title) {
    this.canvas = make("canvas", { role: "img", tabindex: "0" });
    this.title = make("figcaption", {}, title);
    this.figure = make("figure", { class: "surface" }, this.canvas, this.title);
    this.small = document.createElement("canvas");
    this.pen = null;
    this.cursor = null;
    this.canvas.addEventListener("pointerdown", (event) => this.#press(event));
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  // `pen(x, y, remove)` is called where points are drawn; null if they are not.
  useForDrawing(pen) {
    this.pen = pen;
    this.canvas.classList.toggle("drawing", pen !== null);
  }

  show(info, frame) {
    this.info = info;
    this.frame = frame;
    this.redraw();
  }

  redraw() {
    const { info, frame, canvas } = this;
    if (!info) return;
    const side = Math.max(160, Math.round(canvas.clientWidth || 320));
    const height = info.extent.length === 1 ? Math.round(side * 0.75) : side;
    const scale = Math.min(3, devicePixelRatio || 1);
    if (canvas.width !== side * scale || canvas.height !== height * scale) {
      canvas.width = side * scale;
      canvas.height = height * scale;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    paint(pen, side, height, info, frame, this.small);
    if (this.cursor && this.pen) this.#crosshair(pen, side);
    const what = info.extent.length === 1 ? "Fitted curve" : info.task === "numbers" ? "Fitted surface" : "Decision surface";
    canvas.setAttribute("aria-label", `${what} over ${info.axes.join(" and ")}, with ${info.training.y.length} training and ${info.test.y.length} test points`);
  }

  #place(event) {
    const box = this.canvas.getBoundingClientRect();
    const [[left, right], [low, high]] = this.info.extent;
    const x = left + (right - left) * (event.clientX - box.left) / box.width;
    const y = high - (high - low) * (event.clientY - box.top) / box.height;
    return [x, y];
  }

  #press(event) {
    if (!this.pen) return;
    event.preventDefault();
    const spray = (each) => this.pen(...this.#place(each), each.shiftKey || each.button === 2);
    spray(event);
    let last = performance.now();
    const move = (each) => {
      if (performance.now() - last < 60) return;
      last = performance.now();
      spray(each);
    };
    const end = () => {
      this.canvas.removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
    };
    this.canvas.addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  }

  #key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (!this.pen || !(event.key in moves || ["Enter", " ", "Delete", "Backspace"].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    const [[left, right], [low, high]] = this.info.extent;
    this.cursor ??= [(left + right) / 2, (low + high) / 2];
    if (event.key in moves) {
      const [across, up] = moves[event.key];
      this.cursor[0] = Math.min(right, Math.max(left, this.cursor[0] + across * (right - left) / 24));
      this.cursor[1] = Math.min(high, Math.max(low, this.cursor[1] + up * (high - low) / 24));
      this.redraw();
    } else this.pen(...this.cursor, event.key === "Delete" || event.key === "Backspace");
  }

  #crosshair(pen, side) {
    const [[left, right], [low, high]] = this.info.extent;
    const x = side * (this.cursor[0] - left) / (right - left), y = side * (high - this.cursor[1]) / (high - low);
    pen.strokeStyle = isDark() ? "#fff" : "#000";
    pen.beginPath();
    pen.moveTo(x - 9, y); pen.lineTo(x + 9, y); pen.moveTo(x, y - 9); pen.lineTo(x, y + 9);
    pen.stroke();
  }
}

export function paint(pen, side, height, info, frame, small = document.createElement("canvas")) {
  pen.clearRect(0, 0, side, height);
  if (info.extent.length === 1) paintCurve(pen, side, height, info, frame);
  else paintMap(pen, side, info, frame, small);
}

// Where to draw a point: coordinates of the canvas.
function placer(info, side, height, range) {
  const [[left, right]] = info.extent;
  const [low, high] = info.extent[1] ?? range;
  return (x, y) => [side * (x - left) / (right - left), height * (high - y) / (high - low)];
}

function paintMap(pen, side, info, frame, small) {
  const output = frame?.arrays.output;
  if (output) {
    const n = Math.round(Math.sqrt(output.shape[0]));
    small.width = small.height = n;
    const image = small.getContext("2d").createImageData(n, n);
    colourMap(image.data, output, n, info, scaleOf(info));
    small.getContext("2d").putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = true;
    pen.imageSmoothingQuality = "high";
    // Values are at the corners of the grid: half a pixel lies outside of the picture on every side.
    const margin = side / (n - 1) / 2;
    pen.drawImage(small, -margin, -margin, side + 2 * margin, side + 2 * margin);
    if (output.shape[1] === 1) contour(pen, output, n, side, info.task === "numbers" ? 0 : 127.5);
  }
  const place = placer(info, side, side);
  dots(pen, info, place, side);
}

const scaleOf = (info) => info.scale ??= Math.max(1e-9, ...info.training.y.map(Math.abs));

function colourMap(data, output, n, info, scale) {
  const colours = table(info.task === "numbers" ? 0.9 : 0.55);
  const count = output.shape[1];
  for (let row = 0; row < n; row++) {
    for (let column = 0; column < n; column++) {
      const from = (n - 1 - row) * n + column, to = 4 * (row * n + column);
      if (count === 1) {
        let byte = Math.round(info.task === "numbers" ? Math.max(0, Math.min(255, 127.5 + 127.5 * output[from] / scale)) : output[from]);
        if (!(byte >= 0)) byte = 127;
        data[to] = colours[3 * byte]; data[to + 1] = colours[3 * byte + 1]; data[to + 2] = colours[3 * byte + 2];
      } else if (count === 2) {
        const byte = output[2 * from + 1];
        data[to] = colours[3 * byte]; data[to + 1] = colours[3 * byte + 1]; data[to + 2] = colours[3 * byte + 2];
      } else {
        const [r, g, b] = blended(output.subarray(count * from, count * (from + 1)));
        data[to] = r; data[to + 1] = g; data[to + 2] = b;
      }
      data[to + 3] = 255;
    }
  }
}

// The line at which the values of a grid pass a level, by marching squares.
function contour(pen, values, n, side, level) {
  const step = side / (n - 1);
  pen.beginPath();
  for (let row = 0; row + 1 < n; row++) {
    for (let column = 0; column + 1 < n; column++) {
      const corner = [values[row * n + column], values[row * n + column + 1], values[(row + 1) * n + column + 1], values[(row + 1) * n + column]];
      const crossing = [];
      for (let k = 0; k < 4; k++) {
        const a = corner[k] - level, b = corner[(k + 1) % 4] - level;
        if ((a < 0) === (b < 0)) continue;
        const t = a / (a - b);
        const [dx, dy] = [[t, 0], [1, t], [1 - t, 1], [0, 1 - t]][k];
        crossing.push([(column + dx) * step, side - (row + dy) * step]);
      }
      for (let k = 0; k + 1 < crossing.length; k += 2) {
        pen.moveTo(...crossing[k]);
        pen.lineTo(...crossing[k + 1]);
      }
    }
  }
  pen.strokeStyle = isDark() ? "#c9cdd1" : "#5a5f64";
  pen.lineWidth = 1.4;
  pen.lineCap = "round";
  pen.stroke();
}

export const pointColour = (info, y) => (info.task === "numbers" ? css(diverging(y / scaleOf(info))) : CLASSES[y % CLASSES.length]);

function dots(pen, info, place, side) {
  const few = (info.training.y.length > 900 ? 0.72 : 1) * (side < 240 ? 0.7 : 1);
  const edge = isDark() ? "#101316" : "#fff";
  info.test.at.forEach((at, k) => {
    const [x, y] = place(...at);
    pen.beginPath();
    pen.arc(x, y, RADIUS * few, 0, 7);
    pen.fillStyle = edge;
    pen.fill();
    pen.lineWidth = 1.7 * few;
    pen.strokeStyle = pointColour(info, info.test.y[k]);
    pen.stroke();
  });
  info.training.at.forEach((at, k) => {
    const [x, y] = place(...at);
    pen.beginPath();
    pen.arc(x, y, RADIUS * few, 0, 7);
    pen.fillStyle = pointColour(info, info.training.y[k]);
    pen.fill();
    pen.lineWidth = 1;
    pen.strokeStyle = edge;
    pen.stroke();
  });
}

function paintCurve(pen, side, height, info, frame) {
  const dark = isDark();
  const ys = [...info.training.y, ...info.test.y];
  const low = Math.min(...ys), high = Math.max(...ys), margin = 0.15 * (high - low || 1);
  const range = [low - margin, high + margin];
  const place = placer(info, side, height, range);
  pen.fillStyle = dark ? "#15181c" : "#fbfbfa";
  pen.fillRect(0, 0, side, height);
  pen.strokeStyle = dark ? "#363d45" : "#d8dde3";
  pen.lineWidth = 1;
  pen.beginPath();
  for (const tick of ticks(...range)) {
    const [, y] = place(0, tick);
    pen.moveTo(0, y); pen.lineTo(side, y);
  }
  pen.stroke();
  pen.fillStyle = dark ? "#a3adb8" : "#57606b";
  pen.font = "11px system-ui, sans-serif";
  for (const tick of ticks(...range)) pen.fillText(number(tick), 4, place(0, tick)[1] - 3);
  const at = (set) => ({ ...set, at: set.at.map(([x], k) => [x, set.y[k]]) });
  const colour = { ...info, training: at(info.training), test: at(info.test), task: info.task === "numbers" ? "one" : info.task };
  dots(pen, { ...colour, training: { ...colour.training, y: colour.training.y.map((y) => (info.task === "numbers" ? 1 : y)) }, test: { ...colour.test, y: colour.test.y.map((y) => (info.task === "numbers" ? 1 : y)) } }, place, side);
  const output = frame?.arrays.output;
  if (!output) return;
  const [[left, right]] = info.extent;
  const n = output.shape[0], count = output.shape[1];
  const unit = info.task === "numbers" ? 1 : 1 / 255;
  pen.beginPath();
  for (let k = 0; k < n; k++) {
    const [x, y] = place(left + (right - left) * k / (n - 1), output[count * k + count - 1] * unit);
    if (k) pen.lineTo(x, y); else pen.moveTo(x, y);
  }
  pen.strokeStyle = CLASSES[0];
  pen.lineWidth = 2.6;
  pen.lineJoin = "round";
  pen.stroke();
}
