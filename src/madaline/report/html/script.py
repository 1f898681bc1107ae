"""The JavaScript of a page: it draws charts, again for printing, and moves the threshold of two classes."""

from __future__ import annotations

SCRIPT = """
"use strict";
(function () {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const plots = Array.from(document.querySelectorAll(".plot"));
  const clear = "rgba(0,0,0,0)";
  // On touch screens, a finger scrolls the page and must not zoom into a chart.
  const hasPointer = window.matchMedia("(hover: hover)").matches;
  const scripts = {threshold: setUpThreshold};
  const drawn = new Set();
  function draw(place) {
    if (drawn.has(place)) return;
    drawn.add(place);
    const chart = charts[Number(place.dataset.chart)];
    const layout = Object.assign({
      height: chart.height, margin: {l: 10, r: 10, t: 10, b: 10}, hovermode: "closest",
      dragmode: hasPointer ? "zoom" : false,
      paper_bgcolor: clear, plot_bgcolor: clear, font: {family: "system-ui, sans-serif", size: 12},
      legend: {orientation: "h", x: 0, y: 1.02, yanchor: "bottom", bgcolor: clear},
      modebar: {bgcolor: clear, color: "#808890", activecolor: "#0072B2"},
    }, chart.layout);
    const config = {
      displaylogo: false, responsive: true, typesetMath: false, displayModeBar: hasPointer ? "hover" : false,
      modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d", "pan2d"],
    };
    Plotly.newPlot(place, chart.data, layout, config);
    if (chart.script) scripts[chart.script](place, chart.values);
  }

  // Moves a threshold and shows the scores and the confusion matrix there.
  function setUpThreshold(place, values) {
    const box = place.closest("figure").querySelector(".threshold");
    const slider = box.querySelector('[data-is="threshold"]');
    const costs = ["cost-fp", "cost-fn"].map(name => box.querySelector(`[data-is="${name}"]`));
    const n = values.n_positive + values.n_negative;
    const percent = x => Number.isFinite(x) ? (100 * x).toFixed(1) + "%" : "-";
    const whole = x => x.toLocaleString("en");
    function cost(k) {
      const [fp, fn] = costs.map(input => Math.max(0, Number(input.value) || 0));
      return (fp * values.false_positive[k] + fn * (values.n_positive - values.true_positive[k])) / n;
    }
    function show() {
      const k = Number(slider.value);
      const tp = values.true_positive[k], fp = values.false_positive[k];
      const fn = values.n_positive - tp, tn = values.n_negative - fp;
      const texts = {
        tp: whole(tp), fp: whole(fp), fn: whole(fn), tn: whole(tn),
        threshold: values.thresholds[k].toFixed(4).replace(/00$/, ""),
        precision: percent(tp / (tp + fp)), recall: percent(tp / (tp + fn)),
        F1: (2 * tp / (2 * tp + fp + fn)).toFixed(3), "predicted positive": percent((tp + fp) / n),
        "cost per row": cost(k).toPrecision(3).replace(/e[+]?(-?)/, "e$1"),
      };
      for (const [name, text] of Object.entries(texts)) box.querySelector(`[data-shows="${name}"]`).textContent = text;
      Plotly.relayout(place, {"shapes[0].x0": values.thresholds[k], "shapes[0].x1": values.thresholds[k]});
    }
    function redrawCost() {
      Plotly.restyle(place, {y: [values.thresholds.map((_, k) => cost(k))]}, [4]);
      show();
    }
    function cheapest() {
      let best = 0;
      values.thresholds.forEach((_, k) => { if (cost(k) < cost(best)) best = k; });
      return best;
    }
    slider.addEventListener("input", show);
    costs.forEach(input => input.addEventListener("input", redrawCost));
    for (const button of box.querySelectorAll("button")) {
      button.addEventListener("click", function () {
        slider.value = button.dataset.goesTo === "f1" ? values.best : cheapest();
        show();
      });
    }
    show();
  }

  // One after the other, so that the page can be scrolled meanwhile.
  const waiting = plots.slice();
  (function drawNext() {
    const place = waiting.shift();
    if (place) { draw(place); setTimeout(drawNext, 0); }
  })();
  // Paper is narrower than most screens, and has no width until it is laid out.
  window.addEventListener("beforeprint", function () {
    for (const each of document.querySelectorAll("details")) each.open = true;
    for (const place of plots) {
      draw(place);
      const width = place.closest(".wide") ? 660 : place.closest(".third") ? 210 : 320;
      Plotly.relayout(place, {width: Math.min(width, place.clientWidth)});
    }
  });
  window.addEventListener("afterprint", function () {
    for (const place of plots) Plotly.relayout(place, {width: null, autosize: true});
  });
})();
"""
