// Colours of classes and of numbers, for light and dark pages.

// Further classes have hues that are as far from each other as possible.
const MOST_CLASSES = 100;
const hue = (k) => {
  const h = (47 + 137.508 * k) % 360, light = [0.42, 0.55, 0.33][k % 3], part = (n) => {
    const t = (n + h / 30) % 12;
    return Math.round(255 * (light - 0.55 * Math.min(light, 1 - light) * Math.max(-1, Math.min(t - 3, 9 - t, 1)))).toString(16).padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
};
const FIRST = ["#e07b16", "#1f77c9", "#2f9e58", "#b04fc4", "#d8403f", "#6f6a10", "#12929b", "#8a5a44", "#5b62d6", "#c24482"];
export const CLASSES = [...FIRST, ...Array.from({ length: MOST_CLASSES - FIRST.length }, (_, k) => hue(k))];

export const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

const rgb = (hex) => [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
const COLOURS = CLASSES.map(rgb);
const mix = (a, b, t) => [0, 1, 2].map((k) => a[k] + (b[k] - a[k]) * t);
const middle = () => (isDark() ? [30, 35, 40] : [250, 250, 249]);

// From -1 (first class colour) over 0 (paper) to 1 (second class colour).
export function diverging(value) {
  const t = Math.max(-1, Math.min(1, value));
  return mix(middle(), COLOURS[t < 0 ? 0 : 1], Math.abs(t));
}

// A table of 256 colours for bytes, with `strength` of the pure colours at the ends.
export function table(strength = 1) {
  const found = new Uint8ClampedArray(256 * 3);
  for (let byte = 0; byte < 256; byte++) found.set(diverging(strength * (byte - 127.5) / 127.5), 3 * byte);
  return found;
}

// The colour of probabilities of several classes, paler where they are close.
export function blended(probabilities, strength = 0.58) {
  let best = 0;
  for (let k = 1; k < probabilities.length; k++) if (probabilities[k] > probabilities[best]) best = k;
  const share = probabilities[best] / 255, even = 1 / probabilities.length;
  const sure = Math.max(0, (share - even) / (1 - even));
  return mix(middle(), COLOURS[best % COLOURS.length], strength * (0.15 + 0.85 * sure));
}

export const css = (colour) => `rgb(${colour.map(Math.round).join(",")})`;
