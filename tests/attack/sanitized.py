"""The programs of the fuzzers on a core that was compiled with sanitizers: random graphs, mutated files, loops, forks.

``make sanitize`` starts it, with the runtime of the sanitizers loaded first. They end the process with a report.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import threading
import warnings
from pathlib import Path


def use_core(folder):
    """Let madaline find the extension module of a build folder instead of the installed one."""
    import madaline.kernels

    (path,) = Path(folder).glob("_*.so")
    isa = path.name.split(".")[0].removeprefix("_")
    name = f"{madaline.kernels.__name__}._{isa}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    os.environ["MADALINE_ISA"] = isa
    return isa


def training_runs():
    """Loops on several threads, of which some run at the same time, and some rows are mapped."""
    import tempfile

    import numpy as np

    import madaline as md
    from attack.soak import SETTINGS, Actions, Setting

    for number in range(SETTINGS):
        setting = Setting(number)
        threads = [threading.Thread(target=setting.fit, kwargs={"threads": k, "epochs": 2}) for k in (1, 2, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        model = setting.fit(epochs=1).model
        threads = [threading.Thread(target=model, args=(setting.X,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(5):
            Actions(Path(folder)).cut(np.random.default_rng(number), Setting(number))
            Actions(Path(folder)).fork(np.random.default_rng(number), Setting(number))
    assert md.get_threads() >= 1
    return SETTINGS * 7 + 10


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("core", help="folder with a sanitized extension module")
    parser.add_argument("--seconds", type=float, default=60.0, help="time of each of the two fuzzers")
    parser.add_argument(
        "--without-files", action="store_true", help="polars, which reads files, fails with some sanitizers"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    isa = use_core(options.core)

    from attack import campaign, fuzz_graphs

    campaign.SLOWDOWN = 20.0
    graphs, wrong_graphs = fuzz_graphs.run(seed=5, seconds=options.seconds, isas=(isa,))
    n_runs = training_runs()
    files, wrong_files = {}, {}
    if not options.without_files:
        from attack import fuzz_files

        files, wrong_files = fuzz_files.run(seed=5, seconds=options.seconds)
    print(f"{isa}: {sum(graphs.values())} graphs, {sum(files.values())} files, {n_runs} training runs")
    for name, found in {**wrong_graphs, **wrong_files}.items():
        print(f"{len(found):6d}  {name}   {found[0]}")
    sys.exit(bool(wrong_graphs or wrong_files))


if __name__ == "__main__":
    main()
