// The seam between the page and what trains. The page knows only this interface:
//   about()                          what can be set: fields, activations, features, lessons
//   start(link)                      a new run, paused: {run, link, settings, task, extent, training, test, python, ...}
//   command(run, action, value)      action: run, pause, step, epoch, until, delay
//   frame(run, {seen, rows, at})     the state to draw, as soon as it is newer than `seen`; null if nothing is new
//   findings(run)                    the doctor's findings
//   upload(file)                     a table: {name, digest, rows, columns}
//   close(run)
// This one asks the server that `madaline play` started. Another one may train in the page.

const KEY = "madaline-token";

export class EngineError extends Error {
  constructor(status, answer) {
    super(answer.message || `The server answered with status ${status}.`);
    this.status = status;
    this.answer = answer;
  }
}

export function keepToken(token) {
  try { localStorage.setItem(KEY, token); } catch { /* private windows may refuse; this tab still works */ }
  keepToken.now = token;
}

function token() {
  try { return keepToken.now || localStorage.getItem(KEY) || ""; } catch { return keepToken.now || ""; }
}

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { Authorization: `Bearer ${token()}`, ...options.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new EngineError(0, { message: "The server does not answer. Is madaline play still running?" });
  }
  if (response.ok) return response;
  let answer = {};
  try { answer = await response.json(); } catch { /* not from this server */ }
  throw new EngineError(response.status, answer);
}

const post = (path, document) => ask(path, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(document),
});

export class RemoteEngine {
  async about() { return (await ask("/api/about")).json(); }

  async start(link) { return (await post("/api/runs", { link })).json(); }

  async command(run, action, value = 0) { await post(`/api/runs/${run}`, { action, value }); }

  async frame(run, { seen = null, rows = 0, at = null, signal } = {}) {
    const query = new URLSearchParams({ rows });
    if (seen !== null) query.set("seen", seen);
    if (at !== null) query.set("at", at);
    const response = await ask(`/api/runs/${run}/frame?${query}`, { signal });
    return response.status === 204 ? null : decode(await response.arrayBuffer());
  }

  async findings(run) { return (await ask(`/api/runs/${run}/findings`)).json(); }

  async upload(file) {
    const name = new URLSearchParams({ name: file.name });
    return (await ask(`/api/tables?${name}`, { method: "POST", body: file })).json();
  }

  async close(run) { await ask(`/api/runs/${run}`, { method: "DELETE", keepalive: true }); }
}

// The arrays of a frame by name, each with its shape.
export function decode(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  for (const { name, type, shape, start } of header.arrays) {
    const kind = type === "u1" ? Uint8Array : Float32Array;
    const count = shape.reduce((a, b) => a * b, 1);
    arrays[name] = Object.assign(new kind(buffer, 4 + length + start, count), { shape });
  }
  return { ...header, arrays };
}
