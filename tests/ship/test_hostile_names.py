"""Names made to do harm, in every target: the file is the one of harmless names but for texts, and answers rightly."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from itertools import count
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import madaline as md
from madaline.errors import ExportError
from ship.renamed import (
    CITIES,
    CITY,
    CLASSES,
    EMBEDDED,
    NUMBER,
    PLAIN,
    answers,
    plain_model,
    renamed_model,
    renamed_rows,
)

ATTACK = 'a */ extern int system(const char *); int b = system("echo PWNED"); /*'
PIECES = [
    "*/", "/*", "//", "/", "*", "??/", "?", "\\", '"""', "'''", '"', "'", "\n", "\r", "\r\n", "\t", "\0", "\x0c",
    "\x1b", "\x85", "\u2028", "\u2029", "\u202e", "\u2066", "\ufeff", "\ud800", "\udcff", "#", "{",
    "}", "{0}", "{x}", "%s",
    "%", "a", "_", "é", "東", "x_", "_days(", "_number(", "n", "np", "label", "import os\n", "*\\\n/", "*??/\n/",
    "\n#define x_ 0\n", "; exit(1); ", ATTACK, '"""\nprint("PWNED")\n"""', "\\N{BULLET}",
    "\\u000a", "# -*- coding: cp037 -*-",
]  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=4).map("".join).filter(lambda text: text != "x")
IN_PATHS = TEXT.filter(lambda text: text and "." not in text and _is_unicode(text))
"A column that is embedded is a key of an array in the model file, too."


FROM_OUTSIDE = re.compile(r"(indices_)?x_\w+|layer_\w+")
"Identifiers that are made of names from outside."


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


@st.composite
def hostile(draw):
    """Other texts for the names of the model; columns, categories and classes each differ among themselves."""
    columns = draw(st.lists(TEXT, min_size=2, max_size=2, unique=True))
    embedded = draw(IN_PATHS.filter(lambda text: text not in columns))
    categories = draw(st.lists(TEXT.filter(bool), min_size=3, max_size=3, unique=True))
    classes = draw(st.lists(TEXT, min_size=3, max_size=3, unique=True))
    assume(not any(plain in text for plain in PLAIN for text in [*columns, embedded, *categories, *classes]))
    return {
        **dict(zip((NUMBER, CITY, EMBEDDED), (*columns, embedded), strict=True)),
        **dict(zip(CITIES, categories, strict=True)),
        **dict(zip(CLASSES, classes, strict=True)),
    }


WORST = dict(zip(PLAIN, [
    ATTACK, "\\", "??/", "*/", '"""', "a\n*/", "\ud800", "*??/", "\u2028'",
], strict=True))  # fmt: skip
ALIKE = dict(zip(PLAIN, ["label", "probabilities", "label_2", "é", "ü", "\0", "", "a\0", "a"], strict=True))
TWICE = dict(zip(PLAIN, ["label", "probabilities", "label_", "é", "ü", "東", "", "京", "a"], strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


def exported(names, folder, to, stem="model"):
    suffix = {"c": ".c", "onnx": ".onnx"}.get(to, ".py")
    return md.export(renamed_model(names, folder), folder / f"{stem}{suffix}", to=to, overwrite=True)


def skeleton(source: str) -> str:
    """The syntax tree of a Python file without its texts, and names from outside by number."""
    tree, numbers = ast.parse(source), count()
    known: dict[str, str] = {}

    def plain(name: str) -> str:
        return known.setdefault(name, f"n{next(numbers)}") if FROM_OUTSIDE.fullmatch(name) else name

    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
        elif isinstance(node, ast.Name):
            node.id = plain(node.id)
        elif isinstance(node, ast.arg):
            node.arg = plain(node.arg)
        elif isinstance(node, ast.Attribute):
            node.attr = plain(node.attr)
    return ast.dump(tree)


def test_the_skeleton_of_a_file_shows_what_is_added():
    assert skeleton("x_a = 'b'") == skeleton('x_b = "c"')
    assert skeleton("x_a = 'b'") != skeleton("x_a = 'b'; print()")


def asked(path, names, to):
    """Probabilities and classes of all rows, from a Python file."""
    space: dict = {"__name__": "exported"}
    exec(compile(path.read_bytes(), path.name, "exec"), space)
    rows = renamed_rows(names)
    if to == "python":
        found = space["predict"]({key: [row[key] for row in rows] for key in rows[0]})
        return found["probabilities"], found["label"].tolist()
    found = [space["predict_row"](row) for row in rows]
    return np.array([row["probabilities"] for row in found]), [row["label"] for row in found]


@pytest.mark.parametrize("to", ["python", "python-only"])
@example(names=WORST)
@example(names=ALIKE)
@settings(max_examples=40)
@given(names=hostile())
def test_a_python_file_is_that_of_harmless_names_and_answers_rightly(to, folder, names):
    plain = exported({}, folder, to)[0].read_text()
    (path,) = exported(names, folder, to)
    assert skeleton(path.read_bytes().decode()) == skeleton(plain)
    probabilities, classes = asked(path, names, to)
    expected, expected_classes = answers(names)
    np.testing.assert_allclose(probabilities, expected, rtol=1e-5)
    assert classes == expected_classes


@example(names=WORST, stem='a"); print("PWNED") #')
@example(names=ALIKE, stem="a\n\\")
@settings(max_examples=40)
@given(
    names=hostile(), stem=st.lists(st.sampled_from(["'", '"', "\\", "\n", "{0}", "é", "\u2028", "a", " "]), min_size=1)
)
def test_a_torch_script_is_that_of_harmless_names(folder, names, stem):
    stem = "".join(stem)
    plain = exported({}, folder, "torch")[0].read_text()
    script, weights = exported(names, folder, "torch", stem)
    source = script.read_bytes().decode()
    assert skeleton(source) == skeleton(plain)
    assert weights.name in {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}


@example(names=ALIKE)
@example(names=TWICE)
@settings(max_examples=25)
@given(names=hostile())
def test_an_onnx_file_answers_rightly(folder, names):
    inside = [*(names[name] for name in CITIES), *(names[name].rstrip("\0") for name in CLASSES)]
    if not all(_is_unicode(text) and "\0" not in text for text in inside):
        with pytest.raises(ExportError, match="null character or is not valid Unicode"):
            exported(names, folder, "onnx")
        return
    (path,) = exported(names, folder, "onnx")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    rows = renamed_rows(names)
    inputs = session.get_inputs()
    assert len({port.name for port in (*inputs, *session.get_outputs())}) == 5
    feeds = {}
    for port, key in zip(inputs, rows[0], strict=True):
        values = [row[key] for row in rows]
        if port.type == "tensor(double)":
            feeds[port.name] = np.array([np.nan if value is None else value for value in values])
        else:
            feeds[port.name] = np.array(["" if value is None else value for value in values], dtype=object)
    probabilities, classes = session.run(None, feeds)
    expected, expected_classes = answers(names)
    np.testing.assert_allclose(probabilities, expected, rtol=1e-5)
    assert classes.tolist() == expected_classes


C_FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]


def compiler(name="gcc"):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


def tokens(path: Path) -> list[str]:
    """The C file as the compiler sees it: without comments and includes, names from outside by number."""
    code = re.sub(rb"^#include <.*$", b"", path.read_bytes(), flags=re.MULTILINE)
    command = [compiler(), "-std=c99", "-E", "-P", "-x", "c", "-"]
    found = subprocess.run(command, input=code, capture_output=True, check=True).stdout.decode()
    numbers, known = count(), {}
    pieces = re.findall(r"[\w.]+|\S", found)
    return [known.setdefault(word, f"n{next(numbers)}") if FROM_OUTSIDE.fullmatch(word) else word for word in pieces]


@example(names=WORST)
@example(names=ALIKE)
@settings(max_examples=20)
@given(names=hostile())
def test_a_c_file_is_that_of_harmless_names(folder, names):
    plain = exported({}, folder, "c")
    expected = [tokens(path) for path in plain]
    found = exported(names, folder, "c")
    assert [tokens(path) for path in found] == expected
    command = [compiler(), *C_FLAGS, "-c", found[0], "-o", folder / "model.o"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


MAIN = """
#include <stdio.h>
#include "model.h"
int main(void) {
    model_row row;
    double numbers[1];
    int64_t places[2];
    while (fread(numbers, sizeof numbers, 1, stdin) == 1 && fread(places, sizeof places, 1, stdin) == 1) {
        float p[3];
        int64_t label;
        row.FIRST = numbers[0];
        row.SECOND = places[0];
        row.THIRD = places[1];
        if (model_predict(&row, p, &label) != 0) return 1;
        fwrite(p, sizeof p, 1, stdout);
        fwrite(&label, sizeof label, 1, stdout);
    }
    return 0;
}
"""


@pytest.mark.parametrize("names", [WORST, ALIKE, dict.fromkeys([NUMBER], ATTACK)], ids=["worst", "alike", "attack"])
def test_a_c_file_answers_rightly_and_does_nothing_else(names, folder):
    source, header = exported(names, folder, "c")
    members = re.findall(r"^    (?:double|int64_t) (\w+);", header.read_text(), flags=re.MULTILINE)
    assert len(set(members)) == 3
    main = MAIN
    for place, member in zip(("FIRST", "SECOND", "THIRD"), members, strict=True):
        main = main.replace(place, member)
    (folder / "main.c").write_text(main)
    command = [compiler(), *C_FLAGS, folder / "main.c", source, "-o", folder / "main", "-lm"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    plan = plain_categories()
    given_rows = b"".join(
        np.array([np.nan if number is None else number]).tobytes() + np.array(
            [-2 if text is None else plan[k].index(text) for k, text in enumerate(rest)], dtype=np.int64).tobytes()
        for number, *rest in (row.values() for row in renamed_rows({}))
    )  # fmt: skip
    run = subprocess.run([folder / "main"], input=given_rows, capture_output=True, check=False)
    assert (run.returncode, run.stderr) == (0, b"")
    expected, classes = answers({})
    found = np.frombuffer(run.stdout, dtype=[("p", "f4", 3), ("label", "i8")])
    np.testing.assert_allclose(found["p"], expected, rtol=1e-5)
    assert [CLASSES[place] for place in found["label"]] == classes


def plain_categories():
    return [column.categories for column in plain_model().table_plan_.columns[1:]]


def test_the_header_of_hostile_names_can_be_read_by_cpp(folder):
    _, header = exported(WORST, folder, "c")
    (folder / "main.cpp").write_text(f'#include "{header.name}"\nint main() {{ return 0; }}\n')
    flags = ["-std=c++20", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    run = subprocess.run([compiler("g++"), *flags, folder / "main.cpp"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_a_csv_header_that_is_c_code_is_only_a_comment(tmp_path):
    """From the table of a stranger to an object file, as a user does it."""
    header = ATTACK.replace('"', '""')
    lines = [f'"{header}",other', *(f"{(k * 7) % 30},{k}" for k in range(30))]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    frame, _ = md.read_table(tmp_path / "table.csv")
    y = np.arange(30) % 4 > 1
    model = md.MLPClassifier((3,), max_iter=1, data="auto", tol=1e9, n_iter_no_change=1).fit(frame, y)
    (path, _) = md.export(model, tmp_path / "model.c", to="c")
    assert "PWNED" in path.read_text()
    subprocess.run([compiler(), *C_FLAGS, "-c", path, "-o", tmp_path / "model.o"], check=True)
    symbols = subprocess.run(["nm", tmp_path / "model.o"], check=True, capture_output=True, text=True).stdout
    assert "system" not in symbols


@pytest.mark.parametrize("to", ["python", "python-only", "torch", "c"])
def test_what_is_shown_of_a_layer_does_no_harm(to, tmp_path):
    """The name of a custom function and the names of inputs, outputs and layers are texts from outside, too."""

    def bad(x):
        return np.tanh(x)

    bad.__name__ = f'{ATTACK}\n"""\u2028??/\\'
    inputs = {name: md.nn.Activation(bad) for name in (ATTACK, "a", "a\n", "A", "é", "layer_0", "v1")}
    outputs = {f'{ATTACK}"""': md.Linear(1), "y": md.Linear(1), "return": md.Linear(1)}
    net = md.Sequential(md.Parallel(**inputs), md.Concat(), md.Parallel(**outputs))
    X = {name: np.full((2, 1), float(k), dtype="float32") for k, name in enumerate(inputs)}
    model = net.init(X)
    (path, *_) = md.export(model, tmp_path / f"model{'.c' if to == 'c' else '.py'}", to=to)
    if to == "c":
        subprocess.run([compiler(), *C_FLAGS, "-c", path, "-o", tmp_path / "model.o"], check=True)
        return
    tree = ast.parse(path.read_bytes().decode())
    assert not any(isinstance(node, ast.Name) and node.id in ("print", "system", "exit") for node in ast.walk(tree))
    if to == "torch":
        return
    space: dict = {}
    exec(compile(tree, "model.py", "exec"), space)
    expected = model(X)
    if to == "python":
        found = space["predict"](*X.values())
    else:
        found = space["predict_row"](*(column[1].tolist() for column in X.values()))
        expected = {name: value[1] for name, value in expected.items()}
    assert list(found) == list(outputs)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5)
