"""The playground without a server in Chromium: steps per second, size of the page, agreement with the native core.

    make playground
    .venv-web/bin/python benchmarks/wasm.py [--seconds 0.1] [--rounds 40] [--no-speed] [--no-save]

Programs are run for whole epochs in the page, as training does, without drawing. The best of many short rounds counts,
so that other work on the machine disturbs the numbers little. The losses of every lesson are compared over 200 steps
with those of the native core without fused multiply-adds, which WebAssembly lacks. Results are saved in
``results/wasm.json`` and ``results/wasm.md``. ``--no-speed`` keeps the speeds that were saved, for a machine that is
busy.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import harness

from madaline.web.play.lessons import LESSONS
from web.live.offline_page import IN_PAGE, PAGE, native_histories

RESULTS = Path(__file__).parent / "results"
NETS = {
    "XOR, 3 relu": "data=xor&layers=3relu",
    "moons, 6 and 4 tanh": "",
    "moons, 8, 8 and 8 relu": "layers=8relu,8relu,8relu",
    "wave, 24 relu": "data=wave&features=x1&layers=24relu",
    "moons, 32 and 32 relu": "n=200&layers=32relu,32relu&dropout=0.4",
}
"Links by name; mini-batches have 16 rows."
SPEED = """
async ([link, seconds]) => {
  const { LocalEngine } = await import("play/local_engine.js");
  const { LocalNet } = await import("play/local_net.js");
  globalThis.engine ??= new LocalEngine();
  if (!engine.info) await engine.about();
  const train = LocalNet.prototype.train;
  let net = null;
  LocalNet.prototype.train = function (...given) { net = this; return train.apply(this, given); };
  const { run, stepsAnEpoch } = await engine.start(link);
  await engine.command(run, "until", stepsAnEpoch);
  while (!net) await new Promise((done) => setTimeout(done, 5));
  LocalNet.prototype.train = train;
  await new Promise((done) => setTimeout(done, 50));
  const began = performance.now();
  let steps = 0, epoch = 1;
  while (performance.now() - began < 1000 * seconds) steps += net.train(epoch++, 0, net.steps).steps;
  const found = steps / (performance.now() - began) * 1000;
  await engine.close(run);
  return found;
}
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each round")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--no-speed", action="store_true")
    parser.add_argument("--no-save", action="store_true")
    return parser.parse_args()


def difference(page: Page) -> dict[str, float]:
    """The largest relative difference of a loss, by lesson."""
    links = [lesson.link for lesson in LESSONS]
    found = {}
    for lesson, wanted in zip(LESSONS, native_histories(links), strict=True):
        history = page.evaluate(IN_PAGE, [lesson.link, len(wanted["loss"])])
        pairs = [(a, b) for name in ("loss", "val_loss") for a, b in zip(history[name], wanted[name], strict=True)]
        found[lesson.name] = max(abs(a - b) / max(abs(b), 1e-12) for a, b in pairs)
    return found


def speeds(page: Page, options: argparse.Namespace) -> dict[str, float]:
    """The largest number of steps per second, by net; the nets take turns."""
    found = dict.fromkeys(NETS, 0.0)
    for _ in range(options.rounds):
        for name, link in NETS.items():
            found[name] = max(found[name], page.evaluate(SPEED, [link, options.seconds]))
    return found


def written(results: dict[str, Any]) -> str:
    lines = [
        "# The playground without a server",
        "The page of `make playground` in headless Chromium, one thread. Made by `benchmarks/wasm.py`.",
        "",
        f"- Size of the page with native core, programs and data: {results['bytes']:,} bytes.",
        (
            f"- Largest relative difference of a loss from the native core over 200 steps: "
            f"{max(results['difference'].values()):.1e}, of {len(results['difference'])} lessons."
        ),
    ]
    if results["speed"]:
        lines += [
            (
                f"- {results['machine']['cpu']}, {results['browser']}, best of many short rounds; "
                f"load of the machine {results['load']:.1f}."
            ),
            "",
        ]
        lines += ["| net, mini-batches of 16 rows | steps/s |", "| --- | --- |"]
        lines += [f"| {name} | {speed:,.0f} |" for name, speed in results["speed"].items()]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    options, file = arguments(), RESULTS / "wasm.json"
    is_kept = options.no_speed and file.exists()
    results: dict[str, Any] = json.loads(file.read_text("utf-8")) if is_kept else {"speed": {}}
    results["bytes"] = PAGE.stat().st_size
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{PAGE.as_uri()}#epochs=1")
        page.wait_for_selector("body[data-ready]", state="attached")
        results["difference"] = difference(page)
        if not options.no_speed:
            results["speed"] = speeds(page, options)
            results |= {"machine": harness.machine(), "browser": f"Chromium {browser.version}"}
            results["load"] = os.getloadavg()[0]
        browser.close()
    text = written(results)
    print(text)
    if not options.no_save:
        harness.save("wasm", results, text)


if __name__ == "__main__":
    main()
