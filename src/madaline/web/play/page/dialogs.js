// Dialogs: code to copy, and pictures to take away.

import { make } from "./text.js";
import { pictureOf } from "./pictures.js";

const dialog = () => document.getElementById("dialog");

function open(title, ...children) {
  const close = make("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => dialog().close() }, "×");
  dialog().replaceChildren(make("div", { class: "heading" }, make("h2", { id: "dialog-title" }, title), close), ...children);
  dialog().showModal();
}

export async function copyText(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const area = make("textarea", { value: text });
    (dialog().open ? dialog() : document.body).append(area);
    area.select();
    button.textContent = document.execCommand("copy") ? "Copied" : "Select and copy";
    area.remove();
  }
  setTimeout(() => { button.textContent = before; }, 1200);
}

export function showCode(info) {
  const block = (title, note, text, id) => {
    const button = make("button", { type: "button", onclick: () => copyText(text, button) }, "Copy");
    return [make("div", { class: "heading" }, make("h3", {}, title), button), make("p", { class: "quiet" }, note), make("pre", { id, tabindex: "0" }, text)];
  };
  open("This run as code",
    ...(info.python ? block("Python", "Trains the same net on the same rows: the same numbers, bit by bit on this machine.", info.python, "python-code") : []),
    ...block("Command line", "Trains in the terminal and prints the history.", info.command, "command-code"));
}

export function showPictures(pictures) {
  const rows = Object.entries(pictures).map(([name, source]) => make("tr", {}, make("th", { scope: "row" }, name),
    ...["SVG", "PNG"].map((kind) => make("td", {}, make("button", { type: "button", "data-picture": `${name} ${kind}`, onclick: () => save(name, kind, source) }, kind)))));
  open("Pictures", make("table", { class: "pictures" }, make("tbody", {}, rows)));
}

async function save(name, kind, source) {
  const blob = await pictureOf(source(), kind);
  const link = make("a", { href: URL.createObjectURL(blob), download: `madaline-${name.toLowerCase()}.${kind.toLowerCase()}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
