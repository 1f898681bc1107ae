// Pictures as files: SVG with the colours of the page, and PNG made from it.

import { draw, shortened } from "./text.js";
import { isDark } from "./colours.js";
import { paint } from "./surface.js";

const COPIED = ["fill", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "font-size", "font-family", "text-anchor", "opacity"];
const FONT = "system-ui, sans-serif";
const SIDE = 480;

const ink = () => (isDark() ? "#e4e8ec" : "#1c2127");
const write = (x, y, text, more = {}) => draw("text", { x, y, "font-size": 12, "font-family": FONT, fill: ink(), ...more }, text);

// The surface or the curve: the map is an image, points and lines are lines.
export function surfacePicture(info, frame) {
  const height = info.extent.length === 1 ? 0.75 * SIDE : SIDE, pen = new SvgPen();
  paint(pen, SIDE, height, info, frame);
  const [first, second] = info.axes.map((name) => shortened(name, 40));
  const frameOf = draw("svg", { width: SIDE, height, viewBox: `0 0 ${SIDE} ${height}` }, pen.parts);
  const epoch = frame ? write(SIDE, height + 18, `epoch ${frame.epoch.toLocaleString("en")}`, { "text-anchor": "end" }) : null;
  return svgOf(SIDE, height + 26, frameOf, write(2, height + 18, info.extent.length === 1 ? `${second} over ${first}` : `→ ${first}, ↑ ${second}`), epoch);
}

// The net with its names, and units and activation above each layer.
export function netPicture(network, info, layers) {
  const svg = withStyles(network.svg), { size, columns } = network;
  const width = Number(svg.getAttribute("width")), height = Number(svg.getAttribute("height"));
  const all = columns.flat(), top = Math.min(...all.map(({ y }) => y)) - size / 2 - 36, last = columns.length - 1;
  const units = all.map(({ canvas, x, y }) => [imageOf(canvas, x - size / 2, y - size / 2, size, size), draw("rect", { x: x - size / 2, y: y - size / 2, width: size, height: size, rx: 4, fill: "none", stroke: ink(), "stroke-width": 1.2 })]);
  const names = columns[0].map(({ x, y }, unit) => write(x - size / 2 - 6, y + 4, shortened(info.inputs[unit], network.letters), { "text-anchor": "end" }));
  if (info.classes.length > 2) names.push(...columns[last].map(({ x, y }, unit) => write(x + size / 2 + 6, y + 4, shortened(info.classes[unit], network.letters))));
  const heads = layers.map(({ units: count, activation }, place) => write(columns[place + 1][0].x, top + 24, `${count} ${activation.replaceAll("_", " ")}`, { "text-anchor": "middle" }));
  const whole = draw("g", { transform: `translate(0 ${-top})` }, ...svg.childNodes, units.flat(), names, heads);
  return svgOf(width, height - top, whole);
}

export function curvesPicture(curves) {
  return svgOf(420, 356, ...curves.charts.flatMap(({ svg, name, legend }, k) => {
    const copy = withStyles(svg), top = 24 + 174 * k;
    ["x", "y", "width", "height"].forEach((key, i) => copy.setAttribute(key, [10, top, 400, 150][i]));
    const keys = [...legend.querySelectorAll("i")].map((mark, place) => {
      const style = getComputedStyle(mark), x = 410 - 84 * (legend.querySelectorAll("i").length - place);
      return [draw("line", { x1: x, x2: x + 16, y1: top - 10, y2: top - 10, stroke: style.borderTopColor, "stroke-width": 2.5, "stroke-dasharray": style.borderTopStyle === "dashed" ? "4 3" : "none" }), write(x + 21, top - 6, mark.nextSibling.textContent.trim())];
    });
    return [write(10, top - 6, name.textContent, { "font-weight": 600 }), ...keys.flat(), copy];
  }));
}

// A copy of an SVG element with the styles of the page written into it.
function withStyles(svg) {
  const copy = svg.cloneNode(true);
  const ours = [svg, ...svg.querySelectorAll("*")], theirs = [copy, ...copy.querySelectorAll("*")];
  ours.forEach((element, k) => {
    const style = getComputedStyle(element);
    for (const name of COPIED) if (style.getPropertyValue(name)) theirs[k].setAttribute(name, style.getPropertyValue(name));
    theirs[k].removeAttribute("class");
  });
  return copy;
}

function svgOf(width, height, ...children) {
  const ground = draw("rect", { width, height, fill: isDark() ? "#15181c" : "#ffffff" });
  return draw("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` }, ground, ...children);
}

const imageOf = (canvas, x, y, width, height) => draw("image", { href: canvas.toDataURL("image/png"), x, y, width, height, preserveAspectRatio: "none" });

// As much of the pen of a canvas as surface.js uses; `parts` are SVG elements.
class SvgPen {
  parts = [];
  path = "";
  clearRect() {}
  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${x.toFixed(2)} ${y.toFixed(2)}`; }
  lineTo(x, y) { this.path += `L${x.toFixed(2)} ${y.toFixed(2)}`; }
  arc(x, y, r) { this.path = `M${(x - r).toFixed(2)} ${y.toFixed(2)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`; }
  fill() { this.parts.push(draw("path", { d: this.path, fill: this.fillStyle })); }
  stroke() { this.parts.push(draw("path", { d: this.path, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-linecap": "round", "stroke-linejoin": "round" })); }
  fillRect(x, y, width, height) { this.parts.push(draw("rect", { x, y, width, height, fill: this.fillStyle })); }
  fillText(text, x, y) { this.parts.push(draw("text", { x, y, fill: this.fillStyle, "font-size": 11, "font-family": FONT }, text)); }
  drawImage(canvas, x, y, width, height) { this.parts.push(imageOf(canvas, x, y, width, height)); }
}

export async function pictureOf(svg, kind) {
  const text = new XMLSerializer().serializeToString(svg);
  if (kind === "SVG") return new Blob([text], { type: "image/svg+xml" });
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const scale = 2, canvas = document.createElement("canvas");
  canvas.width = scale * svg.getAttribute("width");
  canvas.height = scale * svg.getAttribute("height");
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
