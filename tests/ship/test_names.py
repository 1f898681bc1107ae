"""Every word that a language, a library or an exported file uses may be the name of a column, an input or an output."""

from __future__ import annotations

import builtins
import functools
import io
import keyword
import re
import shutil
import subprocess
import symtable
import tokenize
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import madaline as md
from madaline.errors import ExportError
from madaline.ship.c_file import c_files
from madaline.ship.inference import inference_of
from madaline.ship.names import Identifiers, leaf_names
from ship.estimator_cases import MAKERS, fitted
from ship.test_export import FILES

C_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
_Bool _Complex _Imaginary _Alignas _Alignof _Atomic _Generic _Noreturn _Static_assert _Thread_local
asm fortran typeof main NAN INFINITY NULL bool true false complex imaginary errno assert stdin near far min max
"""
CPP_WORDS = """
alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class compl concept const_cast
consteval constexpr constinit
co_await co_return co_yield decltype delete dynamic_cast explicit export false friend mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires
static_assert static_cast template this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq
final override import module
"""
PYTHON_WORDS = [*keyword.kwlist, *keyword.softkwlist, *dir(builtins)]
HEADERS = "#include <math.h>\n#include <stdint.h>\n#include <stdbool.h>\n#include <stddef.h>\n"
OTHER_WORDS = """
x y X Y x_0 x_x y0 y1 yn j0 layer_0_W computed label probabilities prediction mean std weights self np math torch
"""


def needs(program):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    return program


def c_library_words():
    """Macros and names in the headers of C's library, and macros of the compiler's own dialect, as ``unix`` is one."""
    found: set[str] = set()
    for options in (["-std=gnu17", "-dM"], ["-std=c99", "-dM"], ["-std=gnu17"]):
        command = [needs("gcc"), *options, "-E", "-x", "c", "-"]
        text = subprocess.run(command, input=HEADERS, capture_output=True, text=True, check=True).stdout
        found |= set(re.findall(r"^#define (\w+)", text, flags=re.MULTILINE) if "-dM" in options else re.findall(
            r"\b[A-Za-z_]\w*", re.sub(r"^#.*$", "", text, flags=re.MULTILINE)))  # fmt: skip
    return {name for name in found if not name.startswith("__")}


@functools.cache
def exported_words():
    """Every name in a file of each text target, from the tokens of files of many kinds."""
    from madaline.ship.answers import inference_of_estimator
    from madaline.ship.export import GRAPH_TARGETS

    found: set[str] = set()
    for name in (
        "classifier of a table",
        "classifier of a table, two",
        "quantiles",
        "gaussian of two",
        "mixture of two",
        "regressor of a table",
    ):
        inference = inference_of_estimator(fitted(name).estimator)
        for target, (first, *_) in FILES.items():
            if target == "onnx":
                continue
            for path, content in GRAPH_TARGETS[target](inference, Path(first)).items():
                if path.suffix == ".py":
                    tokens = tokenize.tokenize(io.BytesIO(content).readline)
                    found |= {token.string for token in tokens if token.type == tokenize.NAME}
                elif path.suffix in (".c", ".h"):
                    code = re.sub(rb"/\*.*?\*/", b"", content, flags=re.DOTALL).decode()
                    found |= set(re.findall(r"\b[A-Za-z_]\w*", code))
    return {name for name in found if not re.fullmatch(r"v\d\d+|layer_\w+|x_\w+", name)}


@functools.cache
def words():
    """Words of the languages and of the exported files."""
    return sorted({*C_WORDS.split(), *CPP_WORDS.split(), *PYTHON_WORDS, *OTHER_WORDS.split(), *exported_words()})


@functools.cache
def all_words():
    """These, and every name of C's library that the compiler knows."""
    return sorted({*words(), *c_library_words()})


def compile_and_run(source, path, given, *, dialects=("-std=c99", "-std=gnu17")):
    """What a program writes that is made of an exported file and a main function."""
    (path.parent / "main.c").write_text(source)
    for dialect in dialects:
        flags = [dialect, "-Wall", "-Wextra", "-Werror", "-pedantic"]
        command = [needs("gcc"), *flags, path.parent / "main.c", path, "-o", path.parent / "main", "-lm"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr[:2000]
    return subprocess.run([path.parent / "main"], input=given, capture_output=True, check=True).stdout


def check_with_cpp(header):
    """An assertion that C++ reads the header."""
    text = f'#include "{header.name}"\nint main() {{ return 0; }}\n'
    flags = ["-std=gnu++20", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-x", "c++", "-"]
    run = subprocess.run(
        [needs("g++"), *flags], input=text, cwd=header.parent, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[:2000]


def namespace(path):
    """What a Python file defines."""
    found: dict = {}
    exec(compile(path.read_bytes(), path.name, "exec"), found)
    return found


@functools.cache
def table_model():
    """A classifier with a column of each name, and its rows."""
    X = np.random.default_rng(0).random((40, len(words()))) > 0.5
    model = md.MLPClassifier((2,), max_iter=1, data="auto", random_state=0)
    return model.fit(dict(zip(words(), X.T.tolist(), strict=True)), np.arange(40) % 3 == 0), X


@pytest.fixture
def files(tmp_path):
    """A function that exports to a target and gives the files."""
    return lambda model, to: md.export(model, tmp_path / FILES[to][0], to=to, overwrite=True)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("to", ["c", "onnx", "python", "python-only"])
def test_every_word_may_be_the_name_of_a_column(to, files):
    model, X = table_model()
    columns = dict(zip(words(), X.T, strict=True))
    expected = model.predict_proba(columns)
    paths = files(model, to)
    if to == "python":
        found = namespace(paths[0])["predict"](columns)["probabilities"]
    elif to == "python-only":
        predict = namespace(paths[0])["predict_row"]
        rows = [dict(zip(words(), row, strict=True)) for row in X.tolist()]
        found = [predict(row)["probabilities"] for row in rows]
    elif to == "onnx":
        session = onnxruntime.InferenceSession(paths[0], providers=["CPUExecutionProvider"])
        names = [port.name for port in session.get_inputs()]
        assert names == words()
        found = session.run(None, {name: columns[name].astype(float) for name in names})[0]
    else:
        check_with_cpp(paths[1])
        main = f"""#include <stdio.h>
            #include "model.h"
            int main(void) {{
                model_row row;
                float p[2];
                int64_t label;
                while (fread(&row, sizeof row, 1, stdin) == 1) {{
                    if (sizeof row != {8 * X.shape[1]} || model_predict(&row, p, &label)) return 1;
                    fwrite(p, sizeof p, 1, stdout);
                }}
                return 0;
            }}"""
        found = np.frombuffer(compile_and_run(main, paths[0], X.astype(float).tobytes()), "f4").reshape(-1, 2)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@functools.cache
def net_model():
    """A net with an input and an output of each name."""
    names = all_words()
    net = md.Sequential(
        md.Parallel(**{name: md.nn.Identity() for name in names}),
        md.Concat(),
        md.Linear(2),
        md.Parallel(**{name: md.Linear(1) for name in words()}),
    )
    X = np.random.default_rng(0).normal(size=(3, len(names))).astype("float32")
    inputs = {name: X[:, [k]] for k, name in enumerate(names)}
    model = net.init(inputs)
    return model, X, model(inputs)


@pytest.mark.parametrize("to", ["c", "python", "python-only", "onnx"])
def test_every_word_may_be_the_name_of_an_input_and_an_output(to, files):
    model, X, expected = net_model()
    paths = files(model, to)
    inputs = [X[:, [k]] for k in range(X.shape[1])]
    if to == "python":
        found = namespace(paths[0])["predict"](*inputs)
        assert list(found) == words()
    elif to == "python-only":
        found = namespace(paths[0])["predict_row"](*X[0, :, None].tolist())
        expected = {name: value[0] for name, value in expected.items()}
        assert list(found) == words()
    elif to == "onnx":
        session = onnxruntime.InferenceSession(paths[0], providers=["CPUExecutionProvider"])
        names = [port.name for port in session.get_inputs()]
        assert names == all_words()
        found = dict(zip(words(), session.run(None, dict(zip(names, inputs, strict=True))), strict=True))
        assert len({port.name for port in (*session.get_inputs(), *session.get_outputs())}) == len(names) + len(found)
    else:
        check_with_cpp(paths[1])
        n_in, n_out = len(inputs), len(expected)
        given = ", ".join([*(f"x + {k}" for k in range(n_in)), *(f"y + {k}" for k in range(n_out))])
        main = f"""#include <stdio.h>
            #include "model.h"
            int main(void) {{
                float x[{n_in}], y[{n_out}];
                if (fread(x, sizeof x, 1, stdin) != 1 || model_predict({given})) return 1;
                return fwrite(y, sizeof y, 1, stdout) != 1;
            }}"""
        y = np.frombuffer(compile_and_run(main, paths[0], X[0].tobytes(), dialects=["-std=c99"]), "f4")
        found = {name: [value] for name, value in zip(words(), y, strict=True)}
        expected = {name: value[0] for name, value in expected.items()}
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-3, atol=1e-4)


def check_scopes(source):
    """An assertion that functions use only names that are defined, and that none hides a global name that it needs."""
    module = symtable.symtable(source, "model.py", "exec")
    known = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    known |= {table.get_name() for table in module.get_children()} | set(dir(builtins)) | {"__file__"}
    tables = list(module.get_children())
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_global():
                assert symbol.get_name() in known, symbol.get_name()
    names = [table.get_name() for table in module.get_children()]
    assert len(set(names)) == len(names)


def test_scopes_are_checked():
    check_scopes("import math\ndef f(x):\n    return math.exp(x)")
    with pytest.raises(AssertionError, match="exp"):
        check_scopes("def f(x):\n    return exp(x)")
    with pytest.raises(AssertionError):
        check_scopes("def f():\n    pass\ndef f():\n    pass")


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("to", ["torch", "python", "python-only"])
def test_names_from_outside_are_never_those_of_the_file(to, files):
    """With no column of any word, and with one of each, the files define and call the same."""
    source = files(table_model()[0], to)[0].read_text()
    check_scopes(source)
    inside = {token.string for token in tokens(source)}
    outside = {name for name in inside if re.match(r"x_|indices_|layer_", name)}
    assert len([name for name in outside if name.startswith("x_")]) >= len(words()) - 1
    assert {name for name in inside - outside if not re.fullmatch(r"v\d+|x", name)} <= exported_words()
    check_scopes(files(net_model()[0], to)[0].read_text())


def tokens(source):
    found = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token for token in found if token.type == tokenize.NAME]


@pytest.mark.parametrize("name", MAKERS)
def test_the_torch_script_of_every_estimator_uses_names_that_it_defines(name, files):
    check_scopes(files(fitted(name).estimator, "torch")[0].read_text())


def test_every_word_may_be_the_name_of_a_file(tmp_path):
    inference = inference_of(md.Linear(1).init(1))
    headers = []
    for word in all_words():
        if word.lower() in ("math", "stdbool", "stddef", "stdint"):
            continue
        source, header = c_files(inference, Path(f"{word}.c")).values()
        headers.append(header.decode())
        assert source.decode().count("_predict(") == 2
    (tmp_path / "all.h").write_text("\n".join(headers))
    check_with_cpp(tmp_path / "all.h")
    (tmp_path / "all.c").write_text('#include "all.h"\nint main(void) { return 0; }\n')
    flags = ["-std=gnu17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    subprocess.run([needs("gcc"), *flags, tmp_path / "all.c"], check=True)


@pytest.mark.parametrize(
    ("to", "name", "message"),
    [
        ("c", "math.c", "'math.c' cannot be the name of a C file"),
        ("c", "model.h", "'model.h' cannot be the name of a C file"),
        ("torch", "model.safetensors", "is the name of the file with the weights"),
    ],
)
def test_a_name_that_hides_another_file_is_refused(to, name, message, tmp_path):
    with pytest.raises(ExportError, match=message):
        md.export(md.Linear(1).init(1), tmp_path / name, to=to)
    assert not list(tmp_path.iterdir())


def test_a_parameter_of_a_layer_may_have_the_name_of_a_function(tmp_path):
    """A file called layer_0 has functions whose names begin as those of weights do."""
    model = md.Sequential(md.Linear(2), md.Linear(1)).init(1)
    for stem in ("layer_0", "layer_0_W", "computed", "x", "y", "row", "1st", "für"):
        (path, _) = md.export(model, tmp_path / f"{stem}.c", to="c")
        subprocess.run([needs("gcc"), "-std=c99", "-Werror", "-Wall", "-c", path, "-o", tmp_path / "a.o"], check=True)


def test_identifiers_are_short_and_never_the_same():
    names = Identifiers()
    texts = ["a", "a", "a_2", "A", "", " ", "é", "ü", "a b", "a__b", "x", "x_a", "9", "a" * 5000, "a" * 5000, "_x_"]
    found = [names.new("x", text) for text in texts]
    assert len(set(found)) == len(texts)
    assert all(re.fullmatch(r"x(_[0-9A-Za-z]+)*", name) and len(name) < 50 for name in found)
    assert names.output("label") == "label"
    assert names.output("label") == "label_2"
    assert names.output("y0") == "y_y0"


def test_many_names_without_letters_are_found_quickly():
    names = Identifiers()
    assert len({names.new("x", "東" * (k % 7)) for k in range(20_000)}) == 20_000


def test_leaves_have_names_of_their_own():
    assert leaf_names(0, "x") == ["x"]
    assert leaf_names((0, (0, 0)), "x") == ["x_0", "x_1_0", "x_1_1"]
    assert leaf_names({"a": {"b": 0}, "c": (0, 0)}, "x") == ["a_b", "c_0", "c_1"]
    assert len(set(leaf_names({"a": {"b": 0}, "a_b": 0, "a_b_": 0}, "x"))) == 3


def test_outputs_whose_names_meet_are_all_exported(tmp_path):
    net = md.Parallel(a=md.Parallel(b=md.Linear(1), c=md.Linear(1)), a_b=md.Linear(1))
    model = net.init(2)
    X = np.ones((1, 2), dtype="float32")
    (path,) = md.export(model, tmp_path / "model.py", to="python")
    found, expected = namespace(path)["predict"](X), model(X)
    assert list(found) == ["a_b", "a_c", "a_b_"]
    np.testing.assert_allclose(found["a_b"], expected["a"]["b"], rtol=1e-5)
    np.testing.assert_allclose(found["a_b_"], expected["a_b"], rtol=1e-5)
