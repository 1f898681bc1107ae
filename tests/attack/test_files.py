"""Bounded runs of the fuzzers; `make fuzz` runs them for longer."""

from __future__ import annotations

from attack import fuzz_files, fuzz_graphs, fuzz_inputs


def shown(counts):
    return f" {sum(counts.values())}: " + ", ".join(f"{counts[name]} {name}" for name in sorted(counts))


def test_mutated_files_are_refused_or_work(capsys):
    counts, failures = fuzz_files.run(12, seed=1)
    with capsys.disabled():
        print(shown(counts), end="")
    assert not failures
    assert counts["bytes: refused"] > 70
    assert counts["document: refused"] > 50
    assert counts["arrays: used"] > 10  # files that are right are not refused


def test_mutated_inputs_are_refused_or_read(capfd):
    counts, failures = fuzz_inputs.run(seed=1, most=9)
    printed = capfd.readouterr()
    with capfd.disabled():
        print(shown(counts), end="")
    assert not failures
    assert "panicked" not in printed.err
    assert all(any(name.startswith(f"{way}: ") for name in counts) for way in fuzz_inputs.WAYS)
    assert counts["encoded_rows: refused"] > 7
    assert counts["written_table: used"] == 9
    assert counts["text_table: used"] > 1
    assert counts["parquet_table: refused"] > 1


def test_random_graphs_run_by_both_executors(capsys):
    counts, failures = fuzz_graphs.run(seed=1, most=12)
    with capsys.disabled():
        print(shown(counts), end="")
    assert not failures
    assert sum(counts[name] for name in counts if name.endswith(": used")) > 25
