// The native core, compiled to WebAssembly (native/wasm/module.cpp): programs that run in the page, and random numbers.

export class Core {
  static async load(bytes) {
    const core = new Core();
    const imports = {
      madaline: { fail: (at, size) => { throw new Error(core.text(at, size)); } },
      // The C library asks for these; only the clock is used.
      wasi_snapshot_preview1: {
        clock_time_get: (clock, precision, to) => {
          new DataView(core.memory.buffer).setBigUint64(to, BigInt(Math.round(performance.now() * 1e6)), true);
          return 0;
        },
        fd_close: () => 8, fd_seek: () => 8, fd_write: () => 8,
      },
    };
    const { instance } = await WebAssembly.instantiate(bytes, imports);
    core.native = instance.exports;
    core.memory = instance.exports.memory;
    instance.exports._initialize();
    core.programs = new Map();
    return core;
  }

  text(at, size) { return new TextDecoder().decode(new Uint8Array(this.memory.buffer, at, size)); }

  // Arrays in the memory of the core. It may grow, so that a view is made for each use.
  floats(at, count) { return new Float32Array(this.memory.buffer, at, count); }
  doubles(at, count) { return new Float64Array(this.memory.buffer, at, count); }

  // Whole numbers of 64 bits, as pairs of 32.
  integers(at, values) {
    const pairs = new Int32Array(this.memory.buffer, at, 2 * values.length);
    for (let k = 0; k < values.length; k++) {
      pairs[2 * k] = values[k];
      pairs[2 * k + 1] = values[k] < 0 ? -1 : 0;
    }
  }

  // A program by a name that the caller chooses; it is read once.
  program(name, content) {
    if (!this.programs.has(name)) {
      const at = this.native.allocate(content.length);
      new Uint8Array(this.memory.buffer, at, content.length).set(content);
      this.programs.set(name, this.native.program_load(at, content.length));
      this.native.release(at);
    }
    return this.programs.get(name);
  }

  // ---- random numbers, equal to those of NumPy ---------------------------------------------------------------------

  seedText(...parts) {
    const bytes = new TextEncoder().encode(`[${parts.map((part) => JSON.stringify(part)).join(", ")}]`);
    this.#lend(bytes.length, (at) => {
      new Uint8Array(this.memory.buffer, at, bytes.length).set(bytes);
      this.native.seed_text(at, bytes.length);
    });
  }

  seedNumbers(...numbers) {
    this.#lend(4 * numbers.length, (at) => {
      new Uint32Array(this.memory.buffer, at, numbers.length).set(numbers);
      this.native.seed_numbers(at, numbers.length);
    });
  }

  // `state`: texts of state, increment, has_uint32, uinteger.
  seedState(state) {
    const [whole, increment, has, half] = state.map(BigInt), low = (1n << 64n) - 1n;
    this.#lend(48, (at) => {
      new BigUint64Array(this.memory.buffer, at, 6).set([whole & low, whole >> 64n, increment & low, increment >> 64n, has, half]);
      this.native.seed_state(at);
    });
  }

  uniform(count) { return this.#drawn(count, (at) => this.native.draw_uniform(at, count)); }
  normal(count) { return this.#drawn(count, (at) => this.native.draw_normal(at, count)); }
  below(last, count) { return this.#drawn(count, (at) => this.native.draw_below(at, count, last - 1)); }

  // 0 ... count - 1 in random order.
  order(count) {
    return this.#lend(8 * count, (at) => {
      this.native.draw_order(at, count);
      const pairs = new Int32Array(this.memory.buffer, at, 2 * count);
      return Array.from({ length: count }, (_, k) => pairs[2 * k]);
    });
  }

  #drawn(count, draw) {
    return this.#lend(8 * count, (at) => { draw(at); return this.doubles(at, count).slice(); });
  }

  #lend(bytes, use) {
    const at = this.native.allocate(Math.max(bytes, 8));
    try { return use(at); } finally { this.native.release(at); }
  }
}

// Arrays by name in the memory of a core, freed together.
export class Arrays {
  constructor(core) {
    this.core = core;
    this.at = {};
    this.count = {};
  }

  add(name, count, bytes = 4) {
    this.at[name] = this.core.native.allocate(Math.max(8, count * bytes));
    this.count[name] = count;
    return this.at[name];
  }

  floats(name) { return this.core.floats(this.at[name], this.count[name]); }

  free() {
    Object.values(this.at).forEach((at) => this.core.native.release(at));
    this.at = {};
  }
}

// Run a program (kind: [inputs, outputs, counts, commit]) for some batches. `argument(name)` gives [address, bytes per step].
// `rows`: inputs that are gathered, {name: [address, rows, width]}. Returns the number of steps; negative if it diverged.
export function runProgram(core, scratch, program, kind, { order = 0, starts, steps, argument, rows = {}, guard = -1 }) {
  const [inputs, outputs, counts, commit] = kind;
  const numbers = [order, starts, steps, commit, guard, inputs.length + counts.length];
  for (const name of inputs) numbers.push(...(rows[name] ? [0, 0] : argument(name)), 0);
  counts.forEach(() => numbers.push(0, 0, 0));
  numbers.push(outputs.length);
  for (const name of outputs) numbers.push(...argument(name), 0);
  const gathered = inputs.map((name, place) => [name, place]).filter(([name]) => rows[name]);
  numbers.push(gathered.length);
  for (const [name, place] of gathered) numbers.push(place, ...rows[name]);
  numbers.push(counts.length);
  counts.forEach(([coefficient, offset], k) => numbers.push(inputs.length + k, coefficient, offset));
  core.integers(scratch, numbers);
  return core.native.program_run(program, scratch);
}
