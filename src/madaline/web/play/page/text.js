// Numbers and elements.

export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-4 ? value.toExponential(digits - 1) : Number(value.toPrecision(digits)).toString();
  return text.replace("-", "−");
}

// A long name without its middle: names of columns often differ only at their end.
export function shortened(name, most) {
  if (name.length <= most) return name;
  const half = (most - 1) / 2;
  return `${name.slice(0, Math.ceil(half)).trimEnd()}…${name.slice(-Math.floor(half)).trimStart()}`;
}

// An element with attributes, listeners (on...) and children.
export function make(name, attributes = {}, ...children) {
  const found = document.createElement(name);
  set(found, attributes);
  found.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return found;
}

const SVG = "http://www.w3.org/2000/svg";

export function draw(name, attributes = {}, ...children) {
  const found = document.createElementNS(SVG, name);
  set(found, attributes);
  found.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return found;
}

export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" && "value" in element) element.value = value;
    else if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : value);
  }
}

export function ticks(low, high, count = 4) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= raw);
  const found = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) found.push(Math.abs(tick) < step / 1e6 ? 0 : tick);
  return found;
}
