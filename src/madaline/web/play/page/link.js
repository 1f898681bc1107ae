// The state of the page in the part of its address after #: settings, and
//   at    the step that is shown
//   vs    the settings of the run to compare with
//   token where the page may ask; it is taken out at once

const OURS = ["at", "vs", "token"];

export function readLink(hash = location.hash) {
  const query = new URLSearchParams(hash.replace(/^#/, ""));
  const ours = Object.fromEntries(OURS.map((name) => [name, query.get(name)]));
  OURS.forEach((name) => query.delete(name));
  return { settings: written(query), ...ours };
}

export function makeLink({ settings, at = null, vs = null }) {
  const query = new URLSearchParams(settings);
  if (at) query.set("at", at);
  if (vs !== null) query.set("vs", vs);
  return written(query);
}

// Settings of a link with some changed; a value of null is the default.
export function changed(settings, changes) {
  const query = new URLSearchParams(settings);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value === true ? "1" : value === false ? "0" : value);
  }
  return written(query);
}

// The values of a link by name; texts are converted.
export function valuesOf(fields, link) {
  const query = new URLSearchParams(link), found = {};
  for (const { name, kind, default: usual } of fields) {
    const text = query.get(name);
    found[name] = text === null ? usual : kind === "number" || kind === "whole" ? Number(text) : kind === "flag" ? text === "1" : text;
  }
  return found;
}

const written = (query) => query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
