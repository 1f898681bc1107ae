"""The playground without a server, as `make playground` writes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "build" / "playground" / "playground.html"

NATIVE = """
import json, sys
from madaline.web.play.exercise import Exercise
from madaline.web.play.problem import make_problem
from madaline.web.play.settings import Settings
from madaline.web.play.tables import TableStore

found = []
for link in json.load(sys.stdin):
    settings = Settings.of_link(link)
    exercise = Exercise(settings, make_problem(settings, TableStore()))
    problem, trainer = exercise.problem, exercise.trainer()

    def after(view, row):
        if view.progress.t >= 200:
            view.stop()

    history = trainer.fit(problem.X, problem.y, validation=(problem.X_test, problem.y_test), progress=False,
                          callbacks=after, **exercise.fit_options())
    found.append({name: values for name, values in history.to_dict().items() if name.removeprefix("val_") != "seconds"})
print(json.dumps(found))
"""

IN_PAGE = """
async ([link, epochs]) => {
  const { LocalEngine } = await import("play/local_engine.js");
  globalThis.engine ??= new LocalEngine();
  if (!engine.info) await engine.about();
  const { run, stepsAnEpoch } = await engine.start(link), goal = epochs * stepsAnEpoch;
  await engine.command(run, "until", goal);
  let frame = null;
  do frame = (await engine.frame(run, { seen: frame?.version ?? null })) ?? frame;
  while (frame.last < goal && frame.status !== "failed");
  const { history } = await engine.frame(run, {});
  await engine.close(run);
  return history;
}
"""


def native_histories(links: list[str]) -> list[dict[str, list[float]]]:
    """The histories of 200 steps by the native core without fused multiply-adds, which WebAssembly lacks, too."""
    environment = {"MADALINE_ISA": "baseline", "OPENBLAS_NUM_THREADS": "1", "PATH": ""}
    command = [sys.executable, "-c", NATIVE]
    done = subprocess.run(command, input=json.dumps(links), env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
