// Activations and gradients of each layer.

import { draw, make, number } from "./text.js";

export function showLayers(host, frame, names) {
  if (!frame) return host.replaceChildren();
  const rows = frame.layers.map((layer, place) => row(layer, names[place] ?? ""));
  host.replaceChildren(make("table", { class: "layers" },
    make("thead", {}, make("tr", {}, ...["Layer", "Activations", "Mean ± spread", "Gradient"].map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, rows)));
}

function row(layer, name) {
  const most = Math.max(1, ...layer.bins);
  const bars = draw("svg", { viewBox: "0 0 96 26", class: "bins", role: "img", "aria-label": `Activations from ${number(layer.low)} to ${number(layer.high)}` },
    layer.bins.map((count, k) => draw("rect", { x: k * 4, width: 3.4, y: 26 - 26 * count / most, height: 26 * count / most })));
  const size = layer.gradient === null ? 0 : Math.max(0, Math.min(1, (Math.log10(Math.max(layer.gradient, 1e-12)) + 6) / 6));
  const dead = layer.dead ? make("span", { class: "dead" }, ` ${layer.dead} of ${layer.units} always 0`) : null;
  return make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, bars),
    make("td", { class: "number" }, `${number(layer.mean, 2)} ± ${number(layer.std, 2)}`, dead),
    make("td", { class: "number" }, make("span", { class: "meter", "aria-hidden": "true" }, make("i", { style: `width:${Math.round(100 * size)}%` })), number(layer.gradient, 2)));
}
