"""What a report does in a browser: draw the charts, and again for paper."""

from __future__ import annotations

SCRIPT = """
"use strict";
(function () {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const plots = Array.from(document.querySelectorAll(".plot"));
  const clear = "rgba(0,0,0,0)";
  // Where a finger scrolls the page, it must not zoom into a chart.
  const hasPointer = window.matchMedia("(hover: hover)").matches;
  function draw(place) {
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
  }
  plots.forEach(draw);
  // Paper is narrower than most screens, and has no width until it is laid out.
  window.addEventListener("beforeprint", function () {
    for (const each of document.querySelectorAll("details")) each.open = true;
    for (const place of plots) {
      const width = place.closest(".wide") ? 660 : 320;
      Plotly.relayout(place, {width: Math.min(width, place.clientWidth)});
    }
  });
  window.addEventListener("afterprint", function () {
    for (const place of plots) Plotly.relayout(place, {width: null, autosize: true});
  });
})();
"""
