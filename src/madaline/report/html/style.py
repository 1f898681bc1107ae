"""The style sheet of a report: light and dark, for screens, phones and paper."""

from __future__ import annotations

LIGHT = "--ground:#fff;--text:#1c2127;--quiet:#57606b;--line:#d8dde3;--card:#f5f7f9;--accent:#00639c;--warn:#9a4300"
DARK = "--ground:#15181c;--text:#e4e8ec;--quiet:#a3adb8;--line:#363d45;--card:#1e2328;--accent:#6cbdf0;--warn:#f0a35e"

STYLE = (
    ":root{%s}\n@media (prefers-color-scheme:dark){:root{%s}}\n@media print{:root{%s}}\n"  # noqa: UP031 - CSS has braces
    % (LIGHT, DARK, LIGHT)
    + """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--ground);color:var(--text);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1000px;margin:0 auto;padding:16px}
h1{font-size:1.7rem;line-height:1.2;margin:.6em 0 .2em;overflow-wrap:anywhere}
h2{font-size:1.3rem;margin:2.2em 0 .5em;padding-top:.5em;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:.2em 0;overflow-wrap:anywhere}
section>h3{margin-top:1.6em}
p{margin:.4em 0;max-width:46em;overflow-wrap:anywhere}
.quiet,figcaption,footer,dt{color:var(--quiet);font-size:.88rem}
figcaption{margin-top:.3em}
nav{display:flex;flex-wrap:wrap;gap:.3em 1.1em;margin:1em 0}
a{color:var(--accent)}
.result{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 .7em;margin:.6em 0}
.result b{font-size:2.6rem;line-height:1.15;color:var(--accent)}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:.6em;margin:1em 0}
dl div{background:var(--card);border-radius:8px;padding:.5em .8em}
dd{margin:0;overflow-wrap:anywhere}
.warnings{border-left:4px solid var(--warn);background:var(--card);padding:.5em 1em;margin:1em 0;
border-radius:0 8px 8px 0}
.warnings p{margin:.3em 0}
.grid{display:grid;grid-template-columns:repeat(6,minmax(0,1fr));gap:1.4em 1.6em;margin:1em 0}
figure{margin:0;min-width:0;grid-column:span 3}
figure.wide{grid-column:1/-1}
figure.third{grid-column:span 2}
.plot{width:100%}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.93rem}
th,td{text-align:left;padding:.35em .9em .35em 0;border-bottom:1px solid var(--line);vertical-align:top}
td{overflow-wrap:break-word;max-width:18em}
th{font-weight:600;color:var(--quiet);vertical-align:bottom;overflow-wrap:break-word;max-width:14em}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.range{display:block;font-weight:400;color:var(--quiet);font-size:.82rem}
tr.ours td{font-weight:600}
pre{background:var(--card);border-radius:8px;padding:.8em 1em;overflow-x:auto;font-size:.86rem;line-height:1.45}
li code{display:inline-block}
pre.lines{white-space:pre-wrap;overflow-wrap:anywhere}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.net{width:100%;max-width:560px;height:auto;display:block;margin:1em auto}
.net text{fill:var(--text);font:14px system-ui,sans-serif;
stroke:var(--ground);stroke-width:6px;paint-order:stroke}
.net .unit{fill:var(--ground);stroke:var(--text)}
.net .tie{stroke:var(--line)}
.net .layer{fill:var(--text)}
summary{cursor:pointer;color:var(--accent);margin:.6em 0}
.legend span{white-space:nowrap;margin-right:1.2em}
.legend i{display:inline-block;width:.75em;height:.75em;margin-right:.4em;border-radius:2px}
.threshold p{display:flex;flex-wrap:wrap;gap:.5em 1.2em;align-items:center;max-width:none}
.threshold .slide label{flex:1 1 18em;display:flex;gap:.7em;align-items:center}
.threshold input[type=range]{flex:1;min-width:8em;accent-color:var(--accent)}
.threshold input[type=number]{width:5.5em;font:inherit;color:inherit;background:var(--ground);
border:1px solid var(--line);border-radius:6px;padding:.2em .4em}
.threshold dl{grid-template-columns:repeat(auto-fill,minmax(125px,1fr))}
.threshold dd{font-variant-numeric:tabular-nums}
button{font:inherit;color:var(--accent);background:var(--card);border:1px solid var(--line);border-radius:6px;
padding:.25em .8em;cursor:pointer}
td.wrong{color:var(--warn)}
.explained{width:100%;max-width:44em;table-layout:fixed}
.explained th:nth-child(1){width:31%}
.explained th:nth-child(2){width:23%}
.explained th:nth-child(3){width:20%;white-space:normal}
.explained td{overflow-wrap:anywhere}
.bar{display:flex;width:100%;height:1.05em;margin-top:.25em}
.bar i{display:block;height:100%;border-radius:2px}
footer{margin:3em 0 1em;border-top:1px solid var(--line);padding-top:.8em;overflow-wrap:anywhere}
.plot .xtick text,.plot .ytick text,.plot .y2tick text,.plot .infolayer text{fill:var(--text)!important}
.plot .gridlayer path,.plot .zerolinelayer path{stroke:var(--line)!important}
@media (prefers-color-scheme:dark){
.plot .scatterlayer,.plot .barlayer,.plot .legend .layers,.legend i{filter:brightness(1.35)}}
.plot .ticks{stroke:var(--quiet)!important}
@media (max-width:700px){
.grid{grid-template-columns:minmax(0,1fr)}
figure,figure.third{grid-column:1/-1}
main{padding:12px}
th,td{padding-right:.6em}
td{max-width:11em}
th.number{white-space:normal}
.range{white-space:normal;min-width:4.6em;max-width:6.5em;margin-left:auto}
dl{grid-template-columns:repeat(2,minmax(0,1fr))}
}
@media print{
@page{margin:12mm}
body{font-size:11pt}
main{max-width:none;padding:0}
nav,.modebar,summary,.threshold p{display:none!important}
.scroll{overflow:visible}
table{font-size:8.5pt}
figure,tr,.net,.warnings,dl{break-inside:avoid}
h2,h3{break-after:avoid}
.plot .scatterlayer,.plot .barlayer,.plot .legend .layers,.legend i{filter:none}
details pre{font-size:6.5pt;overflow:visible}
}
"""
)
