// Controls of the settings, made from the fields that the engine describes.

import { CLASSES, css, diverging } from "./colours.js";
import { valuesOf } from "./link.js";
import { make } from "./text.js";

export class Controls {
  // `hosts`: elements by group; `change(name, value)` is called for a new value.
  constructor(fields, hosts, change) {
    this.fields = Object.fromEntries(fields.map((field) => [field.name, field]));
    this.hosts = hosts;
    this.change = change;
    this.shown = {};
    for (const field of fields) {
      const host = hosts[field.group];
      const control = CONTROLS[field.kind]?.(field, (value) => this.#changed(field, value));
      if (!host || !control) continue;
      host.append(control.element);
      this.shown[field.name] = control;
    }
  }

  #changed(field, value) {
    this.change({ [field.name]: String(value) === String(field.default) ? null : value });
  }

  values(link) { return valuesOf(Object.values(this.fields), link); }

  kindOf(source) { return this.fields.data.choices.find((choice) => choice.value === source)?.kind; }

  show(values, task) {
    const kind = this.kindOf(values.data);
    const has = (name) => (name === "penalty" ? values.regularizer !== "none"
      : (this.fields.optimizer.choices.find((choice) => choice.value === values.optimizer)?.has ?? []).includes(name));
    for (const [name, control] of Object.entries(this.shown)) {
      const field = this.fields[name];
      control.element.hidden = (field.of && !field.of.includes(kind)) || (field.has && !has(field.has)) || name === "data";
      control.show(values[name], task);
    }
  }
}

let count = 0;

function labelled(field, ...children) {
  const id = `field-${++count}`;
  const input = children.flat().find((child) => child.matches("input, select"));
  input?.setAttribute("id", id);
  if (field.short) input?.setAttribute("aria-label", field.label);
  const label = make("label", { for: id, title: field.help }, field.short ?? field.label);
  return make("div", { class: `field ${field.kind}`, "data-name": field.name }, label, make("div", { class: "control" }, children));
}

const CONTROLS = {
  choice(field, change) {
    const select = make("select", { onchange: () => change(select.value) });
    let listed = "";
    return {
      element: labelled(field, select),
      show(value, task) {
        const fitting = field.choices.filter((choice) => !choice.tasks || !task || choice.tasks.includes(task) || choice.value === value);
        const key = fitting.map((choice) => choice.value).join();
        if (key !== listed) {
          listed = key;
          select.replaceChildren(...fitting.map((choice) => make("option", { value: choice.value, title: choice.title }, choice.value.replaceAll("_", " "))));
        }
        select.value = value;
        select.title = fitting.find((choice) => choice.value === value)?.title ?? "";
      },
    };
  },
  number: stepper,
  whole: stepper,
  flag(field, change) {
    const box = make("input", { type: "checkbox", onchange: () => change(box.checked) });
    return { element: labelled(field, box), show(value) { box.checked = value; } };
  },
};

function stepper(field, change) {
  const input = make("input", { type: "number", step: "any", min: field.low, max: field.high, inputmode: "decimal" });
  const send = () => {
    const value = Number(input.value);
    if (input.value === "" || !Number.isFinite(value)) return;
    change(Math.min(field.high, Math.max(field.low, field.kind === "whole" ? Math.round(value) : value)));
  };
  input.addEventListener("change", send);
  const move = (way) => {
    input.value = next(field, Number(input.value), way);
    send();
  };
  const button = (way) => make("button", { type: "button", tabindex: "-1", "aria-label": `${field.label}: ${way > 0 ? "more" : "less"}`, onclick: () => move(way) }, way > 0 ? "+" : "−");
  input.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    move(event.key === "ArrowUp" ? 1 : -1);
  });
  return { element: labelled(field, button(-1), input, button(1)), show(value) { if (document.activeElement !== input || Number(input.value) !== value) input.value = value; } };
}

// The next value of a control: 1, 3, 10 ... for logarithmic ones, doubles for large whole numbers.
function next(field, value, way) {
  let found;
  if (field.scale === "log") {
    const power = 10 ** Math.floor(Math.log10(value || field.low || 1e-4) + 1e-9), digit = value / power;
    found = way > 0 ? (digit < 2.9 ? 3 * power : 10 * power) : (digit > 3.1 ? 3 * power : digit > 1.1 ? power : 0.3 * power);
  } else if (field.kind === "whole" && field.name !== "seed" && field.name !== "draw") {
    const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(value, 1))) - (value < 100 ? 0 : 0));
    found = field.name === "batch" ? (way > 0 ? value * 2 : Math.floor(value / 2)) : value + way * (way < 0 && value === step ? step / 10 : step);
  } else found = value + way * (field.step ?? 1);
  return Number(Math.min(field.high, Math.max(field.low, found)).toPrecision(6));
}

// Buttons with small pictures of the sources of data.
export function sourceButtons(host, field, thumbnails, choose) {
  const buttons = field.choices.map((choice) => {
    const canvas = make("canvas", { width: 92, height: 68, "aria-hidden": "true" });
    const button = make("button", { type: "button", class: "source", "data-source": choice.value, title: choice.title, "aria-pressed": "false", onclick: () => choose(choice.value) }, canvas, make("span", {}, choice.value));
    return { button, canvas, choice };
  });
  host.replaceChildren(...buttons.map(({ button }) => button));
  const paint = () => buttons.forEach(({ canvas, choice }) => miniature(canvas, thumbnails[choice.value], choice.kind));
  paint();
  return { paint, show(source) { buttons.forEach(({ button, choice }) => button.setAttribute("aria-pressed", choice.value === source)); } };
}

function miniature(canvas, points, kind) {
  const pen = canvas.getContext("2d"), { width, height } = canvas;
  pen.clearRect(0, 0, width, height);
  if (!points) {
    pen.font = "30px system-ui";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = "#7a8591";
    pen.fillText(kind === "table" ? "▦" : "✎", width / 2, height / 2);
    return;
  }
  const at = points.at.map((point, k) => (point.length === 1 ? [point[0], points.y[k]] : point));
  const range = [0, 1].map((axis) => [Math.min(...at.map((p) => p[axis])), Math.max(...at.map((p) => p[axis]))]);
  const most = Math.max(...points.y.map(Math.abs), 1e-9);
  at.forEach(([x, y], k) => {
    pen.beginPath();
    pen.arc(6 + (width - 12) * (x - range[0][0]) / (range[0][1] - range[0][0]), height - 6 - (height - 12) * (y - range[1][0]) / (range[1][1] - range[1][0]), 2.6, 0, 7);
    pen.fillStyle = kind === "shapes" ? CLASSES[points.y[k]] : points.at[k].length === 1 ? CLASSES[1] : css(diverging(points.y[k] / most));
    pen.fill();
  });
}
