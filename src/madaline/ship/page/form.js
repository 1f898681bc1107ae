// The form: fields on one side, the answer and where it comes from on the other. `about` describes the model, and
// `engine` has ask(rows), a promise of answers, and explain(row, answer, isOld). Names, categories and classes become
// text nodes only.
function startForm(about, engine) {
  const POINTS = 33, SHOWN_CLASSES = 8, SHOWN_PARTS = 10, MOST_CHIPS = 12;
  const state = Object.create(null), views = [], SVG = "http://www.w3.org/2000/svg";
  let version = 0;

  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value != null) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  };
  // A name with places where a line may end: after underscores, points and the like.
  const breakable = text => text.match(/[^_./-]*[_./-]?/g).filter(Boolean).flatMap(part => [part, make("wbr")]);
  const draw = (tag, attributes) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const place = id => document.getElementById(id);
  const number = (x, digits = 5) => x == null || Number.isNaN(x) ? "missing"
    : new Intl.NumberFormat("en", {maximumSignificantDigits: Math.abs(x) >= 1e4 ? 6 : digits, useGrouping: Math.abs(x) >= 1e4}).format(x);
  const percent = p => `${(100 * p).toFixed(p > 0.0995 && p < 0.9995 ? 1 : 2)} %`;
  const isoDay = days => new Date(Math.round(days * 86400) * 1000).toISOString().slice(0, 10);

  // The number that curves and contributions show: the probability of the predicted class, or the first value.
  const quantity = (answer, like) => answer.kind === "numbers" ? answer.values[0].value : answer.p[like.label];

  // Numbers as a slider gives them: with as many digits as its range needs.
  function rounded(field, x) {
    const digits = field.isWhole ? 0 : Math.max(0, 2 - Math.floor(Math.log10(field.shown[1] - field.shown[0])));
    return Math.min(field.shown[1], Math.max(field.shown[0], Number(x.toFixed(Math.min(digits, 20)))));
  }

  function startValue(field) {
    if (field.kind === "category" || field.kind === "text") return field.default;
    if (field.kind === "boolean") return false;
    return field.kind === "date" ? isoDay(field.default) : rounded(field, field.default);
  }

  function setValue(field, value) {
    state[field.name] = value;
    refresh();
  }

  function numberField(field) {
    const [low, high] = field.shown, span = high - low;
    const box = make("input", {type: "number", id: `f${field.place}`, step: "any", inputmode: "decimal", placeholder: "missing"});
    const slider = make("input", {type: "range", min: low, max: high, step: field.isWhole ? 1 : span / 500,
      "aria-label": `${field.name}, slider`});
    const note = make("p", {class: "note", hidden: true});
    const curve = draw("svg", {class: "curve", viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true"});
    const dot = make("span", {class: "dot", hidden: true});
    const track = make("div", {class: "track"}, curve, dot);
    const root = make("div", {class: "field"},
      make("div", {class: "line"}, make("label", {for: box.id}, ...breakable(field.name)), box), track, slider,
      make("div", {class: "ends"}, make("span", {}, number(low)), make("span", {}, number(high))), note);
    box.addEventListener("input", () => setValue(field, box.value === "" ? null : box.valueAsNumber));
    slider.addEventListener("input", () => {
      box.value = String(rounded(field, slider.valueAsNumber));
      setValue(field, box.valueAsNumber);
    });
    const xs = field.isWhole && span < POINTS ? Array.from({length: span + 1}, (_, k) => low + k)
      : Array.from({length: POINTS}, (_, k) => low + span * k / (POINTS - 1));
    return {
      root, variants: xs,
      show() {
        const value = state[field.name];
        if (document.activeElement !== box) box.value = value == null ? "" : String(Number(value.toPrecision(7)));
        if (value != null) slider.value = value;
        slider.style.opacity = value == null ? 0.35 : 1;
        const outside = value != null && field.low != null && (value < field.low || value > field.high);
        root.classList.toggle("outside", outside);
        note.hidden = !outside;
        if (outside) note.textContent = `Outside of the training range ${number(field.low)} to ${number(field.high)}.`;
      },
      curve(values, bounds, now) {
        const [least, most] = bounds, height = v => 94 - 88 * (v - least) / (most - least || 1);
        const points = values.map((v, k) => `${(100 * (xs[k] - low) / span).toFixed(2)},${height(v).toFixed(2)}`);
        const value = state[field.name], at = value == null ? null : Math.min(1, Math.max(0, (value - low) / span));
        const parts = [draw("path", {class: "area", d: `M0,100 L${points.join(" L")} L100,100 Z`}),
          draw("path", {class: "path", d: `M${points.join(" L")}`})];
        if (at != null) parts.push(draw("path", {class: "here", d: `M${100 * at},100 V${height(now)}`}));
        curve.replaceChildren(...parts);
        dot.hidden = at == null;
        if (at != null) {
          dot.style.left = `${100 * at}%`;
          dot.style.top = `${Math.min(100, Math.max(0, height(now)))}%`;
        }
      },
    };
  }

  function choiceField(field, choices) {
    const chips = choices.map(([text, value, is]) => {
      const bar = make("i");
      const chip = make("button", {type: "button", class: is === "none" ? "chip none" : "chip"}, text, bar);
      chip.addEventListener("click", () => setValue(field, value));
      return {chip, bar, value};
    });
    const root = make("div", {class: "field", role: "group", "aria-label": field.name},
      make("span", {class: "label"}, ...breakable(field.name)), make("div", {class: "chips"}, ...chips.map(each => each.chip)));
    return {
      root, variants: chips.map(each => each.value),
      show() {
        for (const {chip, value} of chips) chip.setAttribute("aria-pressed", String(state[field.name] === value));
      },
      curve(values, [least, most]) {
        chips.forEach(({bar}, k) => { bar.style.width = `${(4 + 96 * (values[k] - least) / (most - least || 1)).toFixed(1)}%`; });
      },
    };
  }

  function listField(field) {
    const select = make("select", {id: `f${field.place}`},
      ...field.categories.map((text, k) => make("option", {value: k}, text)),
      make("option", {value: -1}, "another category"), make("option", {value: -2}, "missing"));
    select.addEventListener("change", () => {
      const k = Number(select.value);
      setValue(field, k >= 0 ? field.categories[k] : k === -1 ? engine.unknown : null);
    });
    return {
      root: make("div", {class: "field"},
        make("div", {class: "line wide"}, make("label", {for: select.id}, ...breakable(field.name)), select)),
      variants: [],
      show() {
        const value = state[field.name], k = value == null ? -2 : field.categories.indexOf(value);
        select.value = String(k);
      },
      curve() {},
    };
  }

  function boxField(field) {
    const isText = field.kind === "text";
    const box = make("input", {type: isText ? "text" : field.hasTime ? "datetime-local" : "date", id: `f${field.place}`});
    box.addEventListener("input", () => setValue(field, box.value === "" ? null : box.value));
    return {
      root: make("div", {class: "field"},
        make("div", {class: "line wide"}, make("label", {for: box.id}, ...breakable(field.name)), box)),
      variants: [],
      show() {
        const value = state[field.name];
        if (document.activeElement !== box) box.value = value == null ? "" : field.hasTime && value.length === 10 ? `${value}T00:00` : value;
      },
      curve() {},
    };
  }

  function viewOf(field) {
    if (field.kind === "number") return numberField(field);
    if (field.kind === "boolean") return choiceField(field, [["yes", true], ["no", false], ["missing", null, "none"]]);
    if (field.kind === "date" || field.kind === "text") return boxField(field);
    if (field.categories.length > MOST_CHIPS) return listField(field);
    return choiceField(field, [...field.categories.map(text => [text, text]), ["another", engine.unknown, "none"], ["missing", null, "none"]]);
  }

  function bars(names, p, order, first) {
    const root = make("div", {class: "bars"});
    for (const k of order.slice(0, SHOWN_CLASSES)) {
      const inner = make("u");
      inner.style.width = `${(100 * Math.min(1, Math.max(0, p[k]))).toFixed(2)}%`;
      root.append(make("div", {class: first(k) ? "bar first" : "bar"}, make("b", {}, names[k]),
        make("span", {}, percent(p[k])), make("i", {}, inner)));
    }
    return root;
  }

  function intervalPicture(value, low, high, bounds) {
    const least = Math.min(bounds[0], low), most = Math.max(bounds[1], high), at = v => 100 * (v - least) / (most - least || 1);
    const picture = draw("svg", {class: "interval", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true"});
    picture.append(draw("rect", {x: 0, y: 8, width: 100, height: 4, rx: 1, fill: "var(--card)"}),
      draw("rect", {x: at(low), y: 6, width: Math.max(at(high) - at(low), 0.5), height: 8, rx: 1, fill: "var(--accent)", opacity: 0.3}),
      draw("rect", {x: at(value) - 0.5, y: 2, width: 1, height: 16, rx: 0.4, fill: "var(--accent)"}));
    return picture;
  }

  let widest = null;  // the range of everything that was answered so far, for pictures of intervals
  function widen(low, high) {
    widest = widest == null ? [low, high] : [Math.min(widest[0], low), Math.max(widest[1], high)];
  }

  function showAnswer(answer) {
    const panel = make("div", {class: "panel"});
    if (answer.kind === "classes" || answer.kind === "labels") {
      const order = [...answer.p.keys()].sort((a, b) => answer.p[b] - answer.p[a]);
      const chosen = answer.kind === "classes" ? [answer.label] : order.filter(k => answer.p[k] > 0.5);
      panel.append(make("h2", {class: "name"}, about.targets.length === 1 ? about.targets[0] : "Prediction"),
        make("div", {class: "big"}, chosen.map(k => answer.names[k]).join(", ") || "none"));
      panel.append(answer.isScore
        ? make("p", {class: "quiet"}, `Score ${number(answer.score)}; the model gives no probabilities.`)
        : bars(answer.names, answer.p, order, k => chosen.includes(k)));
    } else {
      for (const {name, value, low, high, note} of answer.values) {
        panel.append(make("h2", {class: "name"}, name), make("div", {class: "big"}, number(value, 4)));
        if (low != null) {
          widen(low, high);
          if (answer.values.length === 1) panel.append(intervalPicture(value, low, high, widest));
          panel.append(make("p", {class: "quiet"}, `${about.coverage * 100} % prediction interval: ${number(low, 4)} to ${number(high, 4)}`));
        }
        if (note) panel.append(make("p", {class: "quiet"}, note));
      }
    }
    for (const text of answer.warnings || []) panel.append(make("p", {class: "warning"}, text));
    place("answer").replaceChildren(panel);
  }

  function showParts(found, answer) {
    const root = place("parts");
    if (!found) { root.replaceChildren(); return; }
    const parts = [...found.parts].sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
    const rest = parts.slice(SHOWN_PARTS).reduce((sum, each) => sum + each.contribution, 0);
    const shown = parts.slice(0, SHOWN_PARTS);
    if (parts.length > SHOWN_PARTS) shown.push({column: `${parts.length - SHOWN_PARTS} other columns`, contribution: rest});
    const largest = Math.max(...shown.map(each => Math.abs(each.contribution)), 1e-12);
    const isShare = answer.kind !== "numbers", size = Math.max(Math.abs(found.prediction), Math.abs(found.base), largest);
    const digits = Math.max(0, Math.min(20, 3 - Math.floor(Math.log10(size || 1))));
    const written = x => isShare ? `${(100 * x).toFixed(1)} %` : size < 1e-3 || size >= 1e6 ? Number(x.toPrecision(4)).toExponential()
      : x.toLocaleString("en", {maximumFractionDigits: digits, minimumFractionDigits: 0});
    const signed = x => {
      const text = written(Math.abs(x));
      return /[1-9]/.test(text.replace(/e.*/, "")) ? `${x < 0 ? "\u2212" : "+"}${text}` : text;
    };
    const what = isShare ? `the probability of ${answer.names[answer.label]}` : about.targets[0];
    const panel = make("div", {class: "panel"}, make("h2", {}, "Where it comes from"),
      make("p", {class: "quiet"}, `What each input adds to ${what}, from ${written(found.base)} for a neutral row to ${written(found.prediction)}.`));
    panel.style.setProperty("--number", `${Math.max(...shown.map(each => signed(each.contribution).length))}ch`);
    for (const {column, contribution} of shown) {
      const bar = make("i", {class: contribution < 0 ? "down" : false}), width = 50 * Math.abs(contribution) / largest;
      bar.style.width = `${width}%`;
      bar.style.left = `${contribution < 0 ? 50 - width : 50}%`;
      const value = column in state ? state[column] : undefined;
      const text = value === undefined ? "" : value === null ? "missing" : value === engine.unknown ? "another category"
        : typeof value === "number" ? number(value) : typeof value === "boolean" ? (value ? "yes" : "no") : value;
      panel.append(make("div", {class: "part"}, make("b", {}, ...breakable(column), make("small", {}, text)), make("div", {class: "way"}, bar),
        make("span", {}, signed(contribution))));
    }
    root.replaceChildren(panel);
  }

  function showError(text) {
    place("answer").replaceChildren(make("div", {class: "panel"}, make("p", {class: "warning"}, text)));
  }

  async function refresh() {
    const own = ++version, row = {...state};
    for (const view of views) view.show();
    try {
      const [answer] = await engine.ask([row]);
      if (own !== version) return;
      showAnswer(answer);
      document.body.dataset.answered = String(own);
      await engine.pause();
      if (own !== version) return;
      const found = await engine.explain(row, answer, () => own !== version);
      if (own !== version) return;
      showParts(found, answer);
      await showCurves(own, row, answer);
    } catch (error) {
      if (own === version) showError(error.message);
    }
    if (own === version) document.body.dataset.settled = String(own);
  }

  // How the answer changes if one input changes: all curves have one scale, so that they can be compared.
  async function showCurves(own, row, answer) {
    const asked = views.flatMap((view, k) => view.variants.map(value => ({...row, [about.fields[k].name]: value})));
    const values = [];
    for (let start = 0; start < asked.length; start += engine.batch) {
      const found = await engine.ask(asked.slice(start, start + engine.batch));
      if (own !== version) return;
      values.push(...found.map(each => quantity(each, answer)));
      for (const each of found) if (each.kind === "numbers" && each.values[0].low != null) widen(each.values[0].low, each.values[0].high);
      await engine.pause();
      if (own !== version) return;
    }
    const now = quantity(answer, answer), all = [...values, now];
    let bounds = [Math.min(...all), Math.max(...all)];
    if (answer.kind !== "numbers") bounds = [0, 1];
    let start = 0;
    for (const view of views) {
      if (view.variants.length) view.curve(values.slice(start, start + view.variants.length), bounds, now);
      start += view.variants.length;
    }
    if (widest != null) showAnswer(answer);
  }

  about.fields.forEach((field, k) => {
    field.place = k;
    state[field.name] = startValue(field);
    views.push(viewOf(field));
  });
  place("form").replaceChildren(...views.map(view => view.root));
  place("form").addEventListener("submit", event => event.preventDefault());
  place("reset").addEventListener("click", () => {
    for (const field of about.fields) state[field.name] = startValue(field);
    if (document.activeElement) document.activeElement.blur();
    refresh();
  });
  refresh();
  return {state, refresh, setValue: (name, value) => setValue(about.fields.find(field => field.name === name), value)};
}
