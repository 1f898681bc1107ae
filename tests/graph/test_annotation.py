"""Drawings with numbers and paths: right values, slopes and adjoints in the right places."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import madaline as md
from madaline.errors import ShapeError, TraceError

SVG = "{http://www.w3.org/2000/svg}"


def boxes_of(picture):
    """The lines of each box below its name, by the name."""
    groups = [group for group in ET.fromstring(picture).iter(f"{SVG}g") if "node" in group.get("class", "")]
    texts = [[text.text.replace("\N{NO-BREAK SPACE}", " ") for text in group.iter(f"{SVG}text")] for group in groups]
    return {lines[0].split(" = ")[0]: lines[1:] for lines in texts}


def texts_of(picture, kind):
    return [item.text for item in ET.fromstring(picture).iter(f"{SVG}text") if item.get("class") == kind]


def strands_of(picture):
    """How many lines each colour has."""
    colours = [
        item.get("stroke")
        for item in ET.fromstring(picture).iter(f"{SVG}path")
        if item.get("class") in ("edge", "strand")
    ]
    return {colour: colours.count(colour) for colour in colours}


def lecture(x1, x2):
    return np.log(x1) + x1 * x2 - np.sin(x2)


def test_boxes_have_values_and_adjoints_and_edges_have_slopes():
    picture = md.trace(lecture, 2.0, 5.0).svg(at=(2.0, 5.0))
    assert boxes_of(picture) == {
        "x1": ["2", "∂ 5.5"],
        "x2": ["5", "∂ 1.716"],
        "v3": ["0.6931", "∂ 1"],
        "v4": ["10", "∂ 1"],
        "v5": ["10.69", "∂ 1"],
        "v6": ["-0.9589", "∂ -1"],
        "v7": ["11.65", "∂ 1"],
    }
    assert sorted(texts_of(picture, "slope")) == sorted(["0.5", "5", "2", "0.2837", "1", "1", "1", "-1"])


def test_the_contributions_of_all_paths_add_up_to_the_gradient():
    """The scalar residual net of three layers has four paths (lecture row D9)."""

    def net(w1, w2, w3, x):
        h1 = np.tanh(w1 * x)
        h2 = h1 + np.tanh(w2 * h1)
        return h2 + np.tanh(w3 * h2)

    point = (0.5, -1.0, 0.8, 1.5)
    picture = md.trace(net, *point).svg(at=point, paths="w1")
    *paths, total = texts_of(picture, "path")
    assert len(paths) == 4
    parts = [float(text.rpartition(": ")[2]) for text in paths]
    gradient = md.grad(net)(*point)
    assert sum(parts) == pytest.approx(gradient, abs=1e-3)
    assert total == f"gradient w.r.t. w1, the sum over all paths: {gradient:.4g}"


def test_the_two_paths_of_a_weight_with_a_penalty():
    """Lecture row E21: the net's path and the path of the L2 term."""

    def loss(W1, W2, x, y):
        return (np.maximum(x @ W1, 0.0) @ W2 - y) ** 2 + 0.1 * np.sum(W1**2)

    point = (np.array([[1.0, -0.5], [0.5, 2.0]]), np.array([2.0, -1.0]), np.array([1.0, 2.0]), 1.0)
    picture = md.trace(loss, *point).svg(at=point, paths="W1")
    net, penalty, total = texts_of(picture, "path")
    assert net.endswith(": [[-2 1] [-4 2]]")
    assert penalty.endswith(": [[0.2 -0.1] [0.1 0.4]]")
    assert total.endswith(": [[-1.8 0.9] [-3.9 2.4]]")
    assert "reshape" not in picture
    assert boxes_of(picture)["W1"] == ["[  1 -0.5]", "[0.5    2]", "∂ [-1.8 0.9]", "[-3.9 2.4]"]
    assert boxes_of(picture)["W2"] == ["[2 -1]", "∂ [-2 -3.5]"]


def test_every_adjoint_of_a_net_is_the_gradient_by_its_input(rng):
    def loss(p, X, Y):
        S = np.tanh(X @ p["W"] + p["b"]) @ p["v"]
        return np.mean((S - Y) ** 2)

    p = {"W": rng.normal(size=(2, 3)), "b": rng.normal(size=3), "v": rng.normal(size=3)}
    X, Y = rng.normal(size=(4, 2)), rng.normal(size=4)
    boxes = boxes_of(md.trace(loss, p, X, Y, rows=[1, 2]).svg(at=(p, X, Y)))
    gradient = md.grad(loss)(p, X, Y)
    for name in p:
        (line, *more) = boxes[f"p['{name}']"][-(2 if name == "W" else 1) :]
        drawn = [float(text) for text in re.findall(r"-?[\d.]+(?:e-\d+)?", " ".join([line, *more]))]
        np.testing.assert_allclose(drawn, gradient[name].ravel(), rtol=1e-3)


def test_a_path_has_its_own_colour_and_shared_edges_have_a_strand_for_each():
    picture = md.trace(lecture, 2.0, 5.0).svg(paths="x1")
    first, second, rest = strands_of(picture).items()
    assert {count for colour, count in strands_of(picture).items() if colour != "#8a8f98"} == {3}
    assert len({first[0], second[0], rest[0]}) == 3
    assert texts_of(picture, "path") == ["x1 → v3 → v5 → v7", "x1 → v4 → v5 → v7"]
    assert texts_of(picture, "slope") == []


def test_many_paths_share_a_colour():
    def f(x):
        for _ in range(5):
            x = np.sin(x) + np.cos(x)
        return x

    picture = md.trace(f, 1.0).svg(at=1.0, paths="x")
    total = f"gradient w.r.t. x, the sum over all paths: {md.grad(f)(1.0):.4g}"
    assert texts_of(picture, "path") == ["all paths from x to the result", total]


def test_no_path_goes_through_what_has_no_derivative():
    def f(x):
        return x + md.functional.stop_gradient(x) * np.where(x > 0, 2.0, 3.0)

    picture = md.trace(f, 1.0).svg(at=1.0, paths="x")
    assert texts_of(picture, "path") == ["x → v6: 1", "gradient w.r.t. x, the sum over all paths: 1"]
    picture = md.trace(lambda x, y: 2.0 * y, 1.0, 2.0).svg(at=(1.0, 2.0), paths="x")
    assert texts_of(picture, "path") == ["no path from x to the result"]


def test_a_value_used_twice_by_one_operation_has_the_sum_of_both_slopes():
    picture = md.trace(lambda x: x * x, 3.0).svg(at=3.0)
    assert texts_of(picture, "slope") == ["6"]


def test_a_result_of_several_numbers_has_values_and_slopes_but_no_adjoints():
    picture = md.trace(lambda x: np.exp(x) * np.array([1.0, 2.0]), np.zeros(2)).svg(at=np.zeros(2))
    assert "adjoint" not in picture
    assert texts_of(picture, "slope") == ["[1 1]", "[1 2]"], "a constant has no slope"


def test_large_arrays_are_written_by_their_range():
    picture = md.trace(lambda x: np.sum(x**2), np.arange(100.0)).svg(at=np.arange(100.0))
    assert boxes_of(picture)["x"] == ["(100,)", "0 to 99", "∂ 0 to 198"]
    assert boxes_of(md.trace(lambda x: np.sum(x) * 2.0, np.ones((0, 2))).svg(at=np.ones((0, 2))))["x"][1] == "empty"


def test_parameters_are_told_from_inputs():
    def net(p, X):
        return X @ p["W"]

    def kinds(graph):
        return re.findall(r'class="node (\w+)"', graph.svg())

    assert kinds(md.trace(net, {"W": np.ones((2, 3))}, np.ones((4, 2)))) == ["parameter", "input", "output"]
    graph = md.trace(lambda W, X: X @ W, np.ones((2, 3)), np.ones((4, 2)), rows=[1])
    assert kinds(graph) == ["parameter", "input", "output"]
    assert "1 input, 1 parameter, 3 nodes, 1 output" in graph.svg()


def test_the_drawing_of_a_derivative_has_no_nodes_that_only_pass_a_value_on():
    graph = md.trace(md.grad(lambda p: np.sum(np.tanh(p["a"]) * p["b"])), {"a": np.ones(2), "b": np.ones(2)})
    assert "identity" not in str(graph)
    assert "identity" not in graph.svg()


def test_wrong_arguments_are_named():
    graph = md.trace(lecture, 2.0, 5.0)
    with pytest.raises(ShapeError, match=r"at= has 1 arrays and numbers, and the graph has 2 inputs"):
        graph.svg(at=2.0)
    with pytest.raises(ShapeError, match=r"at= has shape \(3,\) for x2, which was traced with \(\)"):
        graph.svg(at=(2.0, np.ones(3)))
    with pytest.raises(TraceError, match=r"paths='W' is not an input of the graph. Inputs: x1, x2."):
        graph.svg(paths="W")


def test_labels_and_boxes_do_not_cover_each_other():
    picture = md.trace(lecture, 2.0, 5.0).svg(at=(2.0, 5.0), paths="x2")
    root = ET.fromstring(picture)
    labels = [item for item in root.findall(f"{SVG}rect") if item.get("fill-opacity")]
    boxes = [group.find(f"{SVG}rect") for group in root.iter(f"{SVG}g")]
    sides = [[float(item.get(key)) for key in ("x", "y", "width", "height")] for item in (*labels, *boxes)]
    assert len(labels) == 8
    for i, (x, y, width, height) in enumerate(sides):
        for x2, y2, width2, height2 in sides[:i]:
            assert x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y
