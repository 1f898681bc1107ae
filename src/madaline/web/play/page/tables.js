// Tables: dropped on the page or chosen, their target, columns and the two shown ones.

import { make } from "./text.js";

// Names in a link; commas inside of names are written as %2C.
const listed = (names) => names.map((name) => name.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");

// Of more columns than this, some can be found by name.
const MANY = 12;

export class TablePanel {
  constructor(host, engine, about, { choose, again, fail }) {
    Object.assign(this, { host, engine, choose, again, fail });
    this.last = about.table;
    this.input = make("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.parquet,.gz,.bz2,.xz", onchange: () => this.#take(this.input.files[0]) });
    this.label = make("label", { for: "file", class: "file" }, "Open or drop a table ", this.input);
    this.body = make("div", { class: "fields" });
    this.host.append(this.label, this.body);
    this.host.hidden = true;
    const cover = document.getElementById("drop");
    let depth = 0;
    const shows = (on) => { cover.hidden = !on; };
    addEventListener("dragenter", (event) => { if (event.dataTransfer?.types.includes("Files")) { depth++; shows(true); } });
    addEventListener("dragleave", () => { depth = Math.max(0, depth - 1); if (!depth) shows(false); });
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      depth = 0;
      shows(false);
      this.#take(event.dataTransfer?.files[0]);
    });
  }

  async #take(file) {
    if (!file) return;
    try {
      const table = await this.engine.upload(file);
      const asked = this.asked;
      this.asked = null;
      if (asked?.digest && asked.digest !== table.digest) {
        this.fail(`${file.name} is another file than the one of the link: its SHA-256 begins with ${table.digest}, not ${asked.digest}.`);
        this.asked = asked;
        return;
      }
      this.last = table;
      if (asked?.digest) this.again();
      else this.choose({ data: "table", table: table.name, digest: table.digest || null, target: null, columns: null, axes: null, features: null, n: null, noise: null, flip: null, points: null });
    } catch (error) {
      this.fail(error.message);
    } finally {
      this.input.value = "";
    }
  }

  // A list of the columns to tick, with a field to find some of many.
  #columns(names, wanted) {
    const chosen = new Set(wanted);
    const send = () => this.choose({ columns: chosen.size === names.length ? null : listed(names.filter((name) => chosen.has(name))), axes: null });
    const summary = make("summary", {}, `Columns: ${wanted.length} of ${names.length}`);
    const boxes = names.map((name) => make("input", {
      type: "checkbox", "data-key": `column ${name}`, checked: chosen.has(name), onchange: (event) => {
        if (event.target.checked) chosen.add(name);
        else chosen.delete(name);
        // A net needs an input: without any, the run stays as it is until one is ticked.
        if (chosen.size) send();
        else summary.textContent = "Columns: tick at least one";
      },
    }));
    const lines = boxes.map((box, k) => make("label", { title: names[k] }, box, ` ${names[k]}`));
    const none = () => {
      chosen.clear();
      boxes.forEach((box) => { box.checked = false; });
      summary.textContent = "Columns: tick at least one";
    };
    const find = make("input", { type: "search", placeholder: "Find", "aria-label": "Find columns", "data-key": "find", value: this.found ?? "", oninput: () => filter() });
    const filter = () => {
      this.found = find.value;
      lines.forEach((line, k) => { line.hidden = !names[k].toLowerCase().includes(find.value.trim().toLowerCase()); });
    };
    filter();
    return make("details", { class: "columns", open: this.body.querySelector(".columns")?.open }, summary,
      make("div", { class: "tools" }, names.length > MANY ? find : null,
        make("button", { type: "button", "data-key": "all", onclick: () => { names.forEach((name) => chosen.add(name)); send(); } }, "All"),
        make("button", { type: "button", "data-key": "none", onclick: none }, "None")),
      make("div", { class: "menu", tabindex: "0", role: "group", "aria-label": "Columns" }, lines));
  }

  ask(wanted) { this.asked = wanted.digest ? wanted : null; }

  show(values, info) {
    const isTable = values.data === "table";
    this.host.hidden = !isTable;
    if (info?.table?.digest !== values.digest || info?.table?.name !== values.table) info = null;
    const table = info?.table ?? this.last;
    const key = JSON.stringify([isTable, table?.name, table?.digest, values.target, values.columns, values.axes, info?.inputs, info?.notes]);
    if (!isTable || key === this.key) return;
    this.key = key;
    if (!table || table.digest !== values.digest || table.name !== values.table) return this.body.replaceChildren();
    this.last = table;
    const target = values.target || table.columns.at(-1);
    const wanted = values.columns ? values.columns.split(",").map(decodeURIComponent) : table.columns.filter((name) => name !== target);
    const select = (label, value, options, change) => {
      const found = make("select", { id: `table-${label}`, "data-key": label, onchange: () => change(found.value) }, options.map((name) => make("option", { value: name, selected: name === value }, name)));
      return make("div", { class: "field" }, make("label", { for: `table-${label}` }, label), make("div", { class: "control" }, found));
    };
    const parts = [make("p", { class: "quiet" }, `${table.name}: ${table.rows.toLocaleString("en")} rows, ${table.columns.length} columns`),
      select("Target", target, table.columns, (name) => this.choose({ target: name, columns: null, axes: null }))];
    parts.push(this.#columns(table.columns.filter((name) => name !== target), wanted));
    if (info?.inputs.length > 2) {
      const [first, second] = info.axes;
      parts.push(select("Across", first, info.inputs, (name) => this.choose({ axes: listed([name, second]) })), select("Up", second, info.inputs, (name) => this.choose({ axes: listed([first, name]) })));
    }
    for (const note of info?.notes ?? []) parts.push(make("p", { class: "quiet" }, note));
    const active = this.body.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.body.replaceChildren(...parts);
    if (active) [...this.body.querySelectorAll("[data-key]")].find((each) => each.dataset.key === active)?.focus();
  }
}
