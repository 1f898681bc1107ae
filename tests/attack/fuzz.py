"""All fuzzers, one after the other: prints what happened how often, and the seed of every failure."""

from __future__ import annotations

import argparse
import sys

from attack import fuzz_files, fuzz_graphs, fuzz_inputs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    share = options.seconds / 3
    n_failures = 0
    for fuzzer in (fuzz_files, fuzz_inputs, fuzz_graphs):
        counts, failures = fuzzer.run(seed=options.seed, seconds=share)
        for name, count in sorted(counts.items()):
            print(f"{count:9,d}  {name}", flush=True)
        for name, found in sorted(failures.items(), key=lambda item: -len(item[1])):
            print(f"{len(found):6d}  {name}   {found[0]}", flush=True)
        n_failures += len(failures)
    sys.exit(n_failures > 0)


if __name__ == "__main__":
    main()
