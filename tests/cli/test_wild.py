"""Tables from the wild, and worse: each trains, or is refused with a sentence that says what to do."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from command_options import BARE

SMALL = ("--epochs", "2", "--hidden", "8", "--rows", "3000")
QUICK = (*SMALL, *BARE)

WILD = {
    "uci_credit_card_cr_only.csv": ["-t", "default.payment.next.month"],
    "seoul_bike_latin1.csv": ["-t", "Rented Bike Count", "--when", "Date"],
    "air_quality_decimal_comma.csv": ["-t", "C6H6(GT)", "--missing=-200"],
    "titanic_kaggle.csv": ["-t", "survived"],
    "telco_churn_blank.csv": ["-t", "Churn"],
    "student_por_semicolon.csv": ["-t", "G3"],
    "horse_colic_spaces.data": ["-t", "23"],
    "auto_imports_noheader.csv": ["-t", "-1"],
    "stroke_na_text.csv": ["-t", "stroke"],
    "gdp_tab_latin1.tsv": ["-t", "2015"],
    "beijing_pm_semicolon_extra.csv": ["-t", "Class"],
    "water_potability.csv": ["-t", "Potability"],
    "superstore.csv": ["-t", "Profit", "--categorical", "Postal Code"],
    "orange_cyber_breaches.tab": ["-t", "Type_of_Breach"],
}


@pytest.mark.parametrize("name", WILD)
def test_a_file_from_the_wild_trains_and_predicts(madaline, data_dir, name):
    path = data_dir / "messy" / name
    result = madaline("train", path, *WILD[name], "--out", "run", *QUICK)
    assert result.code == 0, result.err
    scored = madaline("predict", "run", path, "--only", "-o", "scored.csv")
    assert scored.code == 0, scored.err


@pytest.mark.clinic
@pytest.mark.parametrize("name", WILD)
def test_the_doctor_examines_a_file_from_the_wild(madaline, data_dir, name):
    result = madaline("train", data_dir / "messy" / name, *WILD[name], "--out", "run", *SMALL)
    assert result.code == 0, result.err
    diagnosis = json.loads(Path("run/result.json").read_text())["diagnosis"]
    assert diagnosis["findings"], "two epochs are too few"


def columns(n_rows, n_columns):
    lines = [",".join([f"c{k}" for k in range(n_columns)] + ["y"])]
    lines += [",".join([str((k * row) % 11) for k in range(n_columns)] + [str(row % 2)]) for row in range(n_rows)]
    return "\n".join(lines).encode()


FINE = {
    "carriage returns": b"a,y\r\n" + b"".join(b"%d,%d\r\n" % (k % 7, k % 2) for k in range(60)),
    "packed": gzip.compress(b"a,y\n" + b"".join(b"%d,%d\n" % (k % 7, k % 2) for k in range(60))),
    "utf-16": ("größe,y\n" + "".join(f"{k % 7},{k % 2}\n" for k in range(60))).encode("utf-16"),
    "duplicate names": b"a,a,y\n" + b"".join(b"%d,%d,%d\n" % (k % 7, k % 5, k % 2) for k in range(60)),
    "currency": ("a;y\n" + "".join(f"{k % 7}.000,50 €;{k % 2}\n" for k in range(60))).encode(),
    "mixed types": b"a,y\n" + b"".join(b"%d,%d\n" % (k, k % 2) for k in range(60)) + b"oops,1\nwell,0\n",
    "a column without values": b"a,b,y\n" + b"".join(b"%d,,%d\n" % (k % 7, k % 2) for k in range(60)),
    "short rows": b"a,b,y\n" + b"".join(b"%d,%d,%d\n" % (k % 7, k, k % 2) for k in range(60)) + b"1,2\n",
    "quoted line ends": b"a,t,y\n" + b"".join(b'%d,"x\ny%d",%d\n' % (k % 7, k % 3, k % 2) for k in range(60)),
}
REFUSED = {
    "nothing": (b"", "is empty"),
    "a header only": (b"a,b,y\n", "has a header but no rows"),
    "binary": (bytes(range(256)) * 20, "not a text"),
    "a sheet": (b"PK\x03\x04" + bytes(300), "damaged zip file"),
    "NULs": (b"a,y\n1,\x002\n", "NUL"),
    "long rows": (b"a,y\n1,2\n3,4\n5,6,7\n8,9\n", "--ragged"),
    "no such target": (b"a,b\n1,2\n3,4\n", "--target y: there is no such column"),
    "one class": (b"a,y\n" + b"1,x\n" * 30, "in every row"),
}


@pytest.mark.parametrize("case", FINE)
def test_a_horror_that_can_be_read_trains(madaline, case):
    Path("t.csv").write_bytes(FINE[case])
    result = madaline("train", "t.csv", "-t", "y", "--out", "run", *QUICK)
    assert result.code == 0, result.err


@pytest.mark.parametrize("case", REFUSED)
def test_a_horror_that_cannot_is_refused_with_a_sentence(madaline, case):
    content, text = REFUSED[case]
    Path("t.csv").write_bytes(content)
    result = madaline("train", "t.csv", "-t", "y", "--out", "run", *QUICK)
    assert result.code in (1, 2)
    assert text in result.err
    assert len(result.err.splitlines()) == 1
    assert {path.name for path in Path().iterdir()} == {"t.csv"}


def test_a_table_of_thousands_of_columns_trains(madaline):
    """More than Python may nest expressions, polars may chain them, or the screen has room for."""
    Path("wide.csv").write_bytes(columns(40, 2_000))
    result = madaline("train", "wide.csv", "-t", "y", "--out", "run", *QUICK)
    assert result.code == 0, result.err
    assert "more" in result.out
