// Pictures as files. A source is {svg, canvases}: a drawing with canvases at places of it.

import { draw } from "./text.js";
import { isDark } from "./colours.js";

const COPIED = ["fill", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "font-size", "font-family", "text-anchor", "opacity"];

// A copy of an SVG element with the styles of the page written into it.
export function withStyles(svg) {
  const copy = svg.cloneNode(true);
  const ours = [svg, ...svg.querySelectorAll("*")], theirs = [copy, ...copy.querySelectorAll("*")];
  ours.forEach((element, k) => {
    const style = getComputedStyle(element);
    for (const name of COPIED) if (style.getPropertyValue(name)) theirs[k].setAttribute(name, style.getPropertyValue(name));
    theirs[k].removeAttribute("class");
  });
  return copy;
}

export function svgOf(width, height, ...children) {
  const ground = draw("rect", { width, height, fill: isDark() ? "#15181c" : "#ffffff" });
  return draw("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` }, ground, ...children);
}

export const imageOf = (canvas, x, y, width, height) => draw("image", { href: canvas.toDataURL("image/png"), x, y, width, height });

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
