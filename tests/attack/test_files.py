"""A bounded run of the fuzzer of files; `make fuzz` runs it for longer."""

from __future__ import annotations

from attack import fuzz_files


def test_mutated_files_are_refused_or_work(capsys):
    counts, failures = fuzz_files.run(12, seed=1)
    with capsys.disabled():
        print(
            f" {sum(counts.values())} files: " + ", ".join(f"{counts[name]} {name}" for name in sorted(counts)), end=""
        )
    assert not failures
    assert counts["bytes: refused"] > 70
    assert counts["document: refused"] > 50
    assert counts["arrays: used"] > 10  # files that are right are not refused
