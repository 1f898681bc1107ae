"""Mutated inputs of all other kinds: tables, settings, records of runs, encoded rows, weights of other libraries.

Each is read, or refused with an error of madaline in one sentence. A file with a checksum is never read as another one.
"""

from __future__ import annotations

import bz2
import collections
import contextlib
import csv
import gzip
import io
import itertools
import json
import lzma
import shutil
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq

import madaline as md
from attack import mutations
from attack.campaign import GOOD, failure_of, no_longer_than
from madaline.cli.main import main as command
from madaline.data.reading.table_file import read_table
from madaline.errors import FileFormatError, MadalineError
from madaline.estimators.row_set import RowSet
from madaline.estimators.table_stream import EncodedRows, TableStream, encode_stream

SECONDS = 10.0
"An input of a few kilobytes that takes more processor time hangs."
LONGEST = 4000
"Maximum length of a message."

SIGNS = [
    b",",
    b";",
    b"\t",
    b"|",
    b'"',
    b'""',
    b"'",
    b"\n",
    b"\r\n",
    b"\r",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b" ",
    b"#",
]
SIGNS += [b"-", b".", b"1e999", b"-0", b"nan", b"NA", b"9" * 400, b"1" + b"0" * 5000, b"\xc3", b"\xe2\x80\xa8", b"\\"]
SIGNS += [b"2020-13-45", b"31/12/2020", b"\x1b[31m", b"=cmd()", b"a" * 3000, b"," * 500, b'"' * 501, b"\n" * 300]


def rows_of_text(rng):
    """A table as text, in one of many dialects."""
    sign, end = mutations.pick([",", ";", "\t", "|", "~", ":"], rng), mutations.pick(["\n", "\r\n"], rng)
    lines = [sign.join(["name", "size", "day", "y"])]
    for k in range(int(rng.integers(2, 40))):
        text = mutations.pick(["Rome", "New York", '"a, b"', "", "NA", "x1"], rng)
        number = mutations.pick([f"{k}.5", f"{k},5", f"1,{k:03d}", "", "-"], rng) if sign != "," else f"{k}.25"
        lines.append(sign.join([text, number, f"2024-01-{k % 28 + 1:02d}", str(k % 2)]))
    return end.join(lines).encode()


def changed_text(content, rng):
    """A text with signs put in, lines repeated or exchanged, or bytes changed."""
    found = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        place = int(rng.integers(0, len(found) + 1))
        how = rng.integers(0, 5)
        if how < 2:
            found[place:place] = mutations.pick(SIGNS, rng)
        elif how == 2:
            lines = bytes(found).split(b"\n")
            first, second = rng.integers(0, len(lines), 2)
            lines[first], lines[second] = lines[second], lines[first]
            found = bytearray(b"\n".join(lines))
        elif how == 3:
            found = bytearray(mutations.changed_bytes(bytes(found), rng))
        else:
            found[place : place + 8] = mutations.pick(SIGNS, rng)
    return bytes(found)


def _parquet_files(frame):
    """A table with gaps in several packings, sizes of pages and encodings."""
    frame = frame.with_columns(pl.when(pl.col("y") == 1).then(pl.col("a")).alias("gaps"), d=pl.date(2020, 1, 1))
    found = []
    for options in ({"compression": "zstd"}, {"compression": "snappy", "data_page_size": 100}):
        frame.write_parquet(stored := io.BytesIO(), row_group_size=40, **options)
        found.append(stored.getvalue())
    table = frame.to_arrow()
    plain = {"compression": "none", "use_dictionary": False}
    encodings = {"b": "DELTA_BYTE_ARRAY", "y": "DELTA_BINARY_PACKED", "a": "BYTE_STREAM_SPLIT"}
    for options in (plain, plain | {"data_page_version": "2.0"}, plain | {"column_encoding": encodings}, {}):
        pq.write_table(table, stored := io.BytesIO(), row_group_size=40, **options)
        found.append(stored.getvalue())
    return found


class Inputs:
    """The inputs that are changed, and what reads them. Each method is an attack: it returns what became of it."""

    def __init__(self, folder):
        self.folder = folder
        rng = np.random.default_rng(0)
        frame = pl.DataFrame(
            {"a": rng.normal(size=90), "b": [f"x{k % 5}" for k in range(90)], "y": rng.integers(0, 2, 90)}
        )
        frame.write_csv(folder / "table.csv")
        self.parquet = _parquet_files(frame)
        options = ["--epochs", "2", "--no-report", "--no-baselines"]
        assert (
            self._command("train", folder / "table.csv", "--target", "y", "--out", folder / "run", *options) == "used"
        )
        self.config = (folder / "run" / "config.toml").read_text()
        self.result = json.loads((folder / "run" / "result.json").read_text())
        rows = RowSet(rng.normal(size=(40, 3)), np.arange(40))
        self.rows = encode_stream(TableStream(lambda: iter([(0, 0)]), folder=folder), lambda X, y: rows, key="a")
        self.rows_content = self.rows.path.read_bytes()
        from safetensors.numpy import save_file

        layers = {"0.weight": np.ones((4, 3), np.float32), "0.bias": np.ones(4, np.float32)}
        save_file(layers, folder / "weights.safetensors")

    def _command(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command([str(argument) for argument in arguments])
        said = err.getvalue()
        if code in (1, 2) and said and "Traceback" not in said and "Internal error" not in said:
            return "refused" if len(said) < LONGEST else f"long message: {said[:80]}"
        return "used" if code == 0 else f"exit code {code}: {said[:140]}"

    def text_table(self, rng):
        path = self.folder / "changed.csv"
        path.write_bytes(changed_text(rows_of_text(rng), rng))
        read_table(path)

    def text_table_by_command(self, rng):
        path = self.folder / "scored.csv"
        path.write_bytes(changed_text((self.folder / "table.csv").read_bytes(), rng))
        to = self.folder / "out.csv"
        to.unlink(missing_ok=True)
        found = self._command("predict", self.folder / "run", path, "-o", to)
        return found if to.exists() == (found == "used") else "half a file is left"

    def written_table(self, rng):
        """Texts with quotes, delimiters and line ends are read as they were written."""
        alphabet = ["a", "é", '"', ",", ";", "\n", " ", "'", "#", "\t", "|", "0"]
        cells = [["v" + "".join(rng.choice(alphabet, rng.integers(0, 9))) + "w" for _ in range(3)] for _ in range(12)]
        text = io.StringIO()
        writer = csv.writer(text, quoting=mutations.pick([csv.QUOTE_ALL, csv.QUOTE_MINIMAL], rng))
        writer.writerows([["p", "q", "r"], *cells])
        frame, _ = read_table(io.BytesIO(text.getvalue().encode()), delimiter=",", header=1)
        return "used" if [list(row) for row in frame.rows()] == cells else "silent change"

    def parquet_table(self, rng):
        path = self.folder / "changed.parquet"
        path.write_bytes(mutations.changed_bytes(mutations.pick(self.parquet, rng), rng))
        read_table(path)

    def packed_table(self, rng):
        pack = mutations.pick([gzip.compress, bz2.compress, lzma.compress], rng)
        content = pack(rows_of_text(rng))
        read_table(io.BytesIO(mutations.changed_bytes(content, rng)))

    def config_file(self, rng):
        """Settings with other values; the run itself is not started, since there is no table of this name."""
        path = self.folder / "changed.toml"
        lines = self.config.splitlines()
        for _ in range(rng.integers(1, 4)):
            k = int(rng.integers(len(lines)))
            values = [*mutations.NUMBERS[:10], *mutations.FLOATS, *mutations.TEXTS[:12], True, [], [1], ["a"], {}]
            value = mutations.pick(values, rng)
            name = lines[k].split(" = ")[0]
            lines[k] = mutations.pick([f"{name} = {json.dumps(value)}", f"{name} = {value!r}", "", lines[k] * 2], rng)
        text = "\n".join(lines).encode(errors="replace")
        path.write_bytes(mutations.changed_bytes(text, rng) if rng.random() < 0.2 else text)
        arguments = ["--config", path, "--out", self.folder / "again", "--force", "--epochs", 1, "--rows", 60]
        return self._command(
            "train",
            self.folder / "table.csv",
            *arguments,
            "--no-report",
            "--no-baselines",
            "--no-doctor",
            "--time",
            "5s",
        )

    def run_record(self, rng):
        folder = self.folder / "changed-run"
        if not folder.exists():
            shutil.copytree(self.folder / "run", folder)
        document = mutations.changed_document(self.result, rng)
        (folder / "result.json").write_text(json.dumps(document), encoding="utf-8")
        both = [self._command("diagnose", folder), self._command("compare", folder, self.folder / "run")]
        return next((found for found in both if found not in GOOD), "refused" if "refused" in both else "used")

    def encoded_rows(self, rng):
        content = mutations.changed_bytes(self.rows_content, rng)
        if content == self.rows_content:
            return "unchanged"
        self.rows.path.write_bytes(content)
        for _ in EncodedRows(self.rows.path, self.rows.record).chunks(None):
            pass
        return "silent change"

    def weights_of_torch(self, rng):
        path = self.folder / "changed.safetensors"
        path.write_bytes(mutations.changed_bytes((self.folder / "weights.safetensors").read_bytes(), rng))
        md.ship.from_torch(path, md.Sequential(md.Linear(4)))


WAYS = [name for name, value in vars(Inputs).items() if callable(value) and not name.startswith("_")]
SLOW = {"config_file": 10, "run_record": 4, "text_table_by_command": 4}
"Attacks that run a command, and after how many others of their kind."


def attack(inputs, way, seed):
    """Change an input and read it."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), no_longer_than(SECONDS):
            warnings.simplefilter("ignore")
            return getattr(inputs, way)(np.random.default_rng(seed)) or "used"
    except MadalineError as error:
        text = str(error)
        is_short = len(text) < LONGEST and (not isinstance(error, FileFormatError) or "\n" not in text)
        return "refused" if is_short else f"long message: {text[:100]!r}"
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is counted; a panic of a library is no Exception
        return failure_of(error)


def run(*, seed=0, seconds=60.0, most=None, ways=WAYS):
    """Attack all inputs; the counts of outcomes, and the failures with their seeds."""
    counts, failures = collections.Counter(), {}
    with tempfile.TemporaryDirectory() as temporary:
        inputs = Inputs(Path(temporary))
        started = time.monotonic()
        for k in itertools.count():
            if time.monotonic() - started > seconds or k == most:
                break
            for way in ways:
                if k % SLOW.get(way, 1):
                    continue
                found = attack(inputs, way, [seed, k])
                counts[f"{way}: {found if found in GOOD else 'FAILED'}"] += 1
                if found not in GOOD:
                    failures.setdefault(found, []).append((way, [seed, k]))
        left = [path.name for path in inputs.folder.rglob("*.part")]
        if left:
            failures["files left"] = left
    return counts, failures
