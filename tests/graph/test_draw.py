"""The drawing: well formed, complete, without overlaps, and able to say what it left out."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import madaline as md
from madaline.graph.draw import STYLES, svg
from madaline.graph.node import constant
from madaline.graph.reverse_mode import cotangents
from madaline.graph.trace import Graph, trace

SVG = "{http://www.w3.org/2000/svg}"


def speelpenning(x1, x2, x3, x4):
    return x1 * x2 * x3 * x4


def loss(X, W1, b1, W2, b2, Y):
    S = np.tanh(X @ W1 + b1) @ W2 + b2
    S = S - S.max(axis=1, keepdims=True)
    return -np.mean(np.sum(Y * (S - np.log(np.exp(S).sum(axis=1, keepdims=True))), axis=1))


def gradient(graph):
    bars = cotangents(graph.outputs, graph.inputs, [constant(1.0, graph.outputs[0].dtype)])
    return Graph(graph.inputs, (graph.outputs[0], *bars))


def powers(x):
    return sum(x**k / np.float64(k) for k in range(1, 40)) + x @ np.arange(3.0)


def chain(x):
    for _ in range(1000):
        x = np.sin(x)
    return x


NET = trace(
    loss, np.ones((8, 3)), np.ones((3, 5)), np.ones(5), np.ones((5, 2)), np.ones(2), np.ones((8, 2)), rows=[0, 5]
)
PRODUCT = trace(speelpenning, 1.0, 2.0, 3.0, 4.0)
GRAPHS = {
    "product": PRODUCT,
    "gradient of the product": gradient(PRODUCT),
    "net": NET,
    "gradient of the net": gradient(NET),
    "powers": trace(powers, np.ones(3)),
    "input as output": trace(lambda x: (x, x), 1.0),
    "constant as output": trace(lambda x: (2.0, np.arange(3.0), x), 1.0),
    "nothing": trace(tuple, ()),
    "unused input": trace(lambda x, y: np.exp(x), 1.0, 2.0),
    "two parts": trace(lambda x, y: (np.exp(x), np.sin(y)), 1.0, np.ones(3)),
}
each_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)


def nodes_of(picture):
    """Each drawn node: its kind, its texts, and the outline's corners."""
    for group in ET.fromstring(picture).iter(f"{SVG}g"):
        if "node" in group.get("class", "").split():
            texts = [text.text for text in group.iter(f"{SVG}text")]
            yield group.get("class").split()[1], texts, corners(group[0])


def corners(shape):
    if shape.tag == f"{SVG}rect":
        x, y, width, height = (float(shape.get(name)) for name in ("x", "y", "width", "height"))
        return x, y, x + width, y + height
    points = [tuple(map(float, point.split(","))) for point in shape.get("points").split()]
    return min(x for x, _ in points), min(y for _, y in points), max(x for x, _ in points), max(y for _, y in points)


@each_graph
def test_the_drawing_is_well_formed(graph):
    root = ET.fromstring(svg(graph))
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text


@each_graph
def test_every_node_of_the_listing_is_drawn_under_its_number(graph):
    listed = re.findall(r"^(v\d+) = (?:input )?(\w+)", str(graph), flags=re.MULTILINE)
    drawn = [texts[0].split(" = ") for _, texts, _ in nodes_of(svg(graph, collapse=False)) if texts[0].startswith("v")]
    assert sorted(map(tuple, drawn)) == sorted(listed)


@each_graph
def test_no_two_boxes_overlap(graph):
    boxes = [box for _, _, box in nodes_of(svg(graph, collapse=False))]
    for i, (left, top, right, bottom) in enumerate(boxes):
        for other_left, other_top, other_right, other_bottom in boxes[:i]:
            assert right <= other_left or other_right <= left or bottom <= other_top or other_bottom <= top


@each_graph
def test_everything_lies_inside_the_picture(graph):
    picture = svg(graph, collapse=False)
    _, _, width, height = map(float, ET.fromstring(picture).get("viewBox").split())
    for _, _, (left, top, right, bottom) in nodes_of(picture):
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height


@each_graph
def test_there_is_an_arrow_for_every_argument(graph):
    root = ET.fromstring(svg(graph, collapse=False))
    arrows = [path for path in root.iter(f"{SVG}path") if path.get("class") == "edge"]
    uses = {
        (id(item), id(node))
        for node in graph.nodes
        for item in node.inputs
        if item.shape or item.inputs or "index" in item.params
    }
    assert len(arrows) == len(uses)
    assert all(path.get("marker-end") == "url(#madaline-arrow)" for path in arrows)


@each_graph
def test_arguments_stand_above_what_is_made_of_them(graph):
    box_of = {texts[0].split(" = ")[0]: box for _, texts, box in nodes_of(svg(graph, collapse=False))}
    for name, arguments in re.findall(r"^(v\d+) = \w+\((.*?)\) :", str(graph), flags=re.MULTILINE):
        for argument in re.findall(r"\bv\d+", arguments):
            assert box_of[argument][3] < box_of[name][1]


def test_kinds_are_told_apart_by_shape_and_colour():
    picture = svg(trace(lambda x: np.exp(x * np.arange(3.0)) + 1.0, np.ones(3)))
    kinds = [kind for kind, _, _ in nodes_of(picture)]
    assert sorted(kinds) == ["constant", "input", "intermediate", "intermediate", "output"]
    looks = {kind: (STYLES[kind][0], STYLES[kind][1]) for kind in kinds}
    assert len(set(looks.values())) == 4
    for kind in set(kinds):
        assert STYLES[kind][2] in picture, "the legend names each kind"
    outlines = dict(re.findall(r'<g class="node (\w+)">(<\w+ [^>]*>(?:<rect)?)', picture))
    assert "<polygon" in outlines["constant"]
    assert outlines["output"].endswith("<rect"), "an output has a double line"


def test_scalar_constants_are_written_where_they_are_used():
    (node,) = [texts for kind, texts, _ in nodes_of(svg(trace(lambda x: 2.5 * x, 1.0))) if kind == "output"]
    assert node == ["v2 = multiply", "2.5, v1", "()"]


def test_a_batch_shows_its_open_size():
    assert any("(n, 5)" in texts for _, texts, _ in nodes_of(svg(NET, collapse=False)))
    assert ">(n, 5)<" in svg(NET)


def test_text_is_escaped():
    picture = svg(trace(lambda x: np.exp(x["<W&'b'>"]), {"<W&'b'>": 1.0}), title="a < b & c")
    root = ET.fromstring(picture)
    assert root.find(f"{SVG}title").text == "a < b & c"
    assert any("<W&" in texts[0] for _, texts, _ in nodes_of(picture))


def test_a_large_graph_is_drawn_by_its_ends_and_says_so():
    picture = svg(trace(chain, 1.0), max_nodes=20, collapse=False)
    nodes = list(nodes_of(picture))
    assert len(nodes) == 21
    assert "1 input, 1001 nodes, 1 output; 981 nodes in the middle left out" in picture
    assert [texts for kind, texts, _ in nodes if kind == "left-out"] == [["981 nodes left out"]]
    names = [texts[0].split(" = ")[0] for kind, texts, _ in nodes if kind != "left-out"]
    assert names == [f"v{i}" for i in [*range(1, 11), *range(992, 1002)]]


def test_a_crossing_that_can_be_avoided_is_avoided():
    """Two chains listed in opposite order at top and bottom."""
    picture = svg(trace(lambda x, y: (np.exp(np.sin(y)), np.exp(np.sin(x))), 1.0, 2.0))
    place = {texts[0].split(" = ")[0]: box[0] for _, texts, box in nodes_of(picture)}
    left_to_right = [place["v1"] < place["v2"], place["v5"] < place["v3"], place["v6"] < place["v4"]]
    assert len(set(left_to_right)) == 1


def test_a_notebook_shows_the_drawing_by_itself():
    assert PRODUCT._repr_svg_() == PRODUCT.svg() == svg(PRODUCT)


def test_a_gradient_says_which_parameter_each_part_belongs_to():
    def loss(params, x):
        return np.sum(np.tanh(x @ params["W"] + params["b"]) ** 2)

    params = {"W": np.ones((2, 3)), "b": np.ones(3)}
    picture = md.trace(md.grad(loss), params, np.ones(2)).svg()
    assert "gradient w.r.t. params[&#x27;W&#x27;]" in picture
    assert "gradient w.r.t. params[&#x27;b&#x27;]" in picture
    assert "gradient w.r.t. x" in md.trace(md.value_and_grad(loss, argnums=1), params, np.ones(2)).svg()
    assert ">value<" in md.trace(md.value_and_grad(loss, argnums=1), params, np.ones(2)).svg()
    assert "result[&#x27;a&#x27;]" in md.trace(lambda x: {"a": x * 2.0, "b": [x + 1.0]}, 1.0).svg()


def test_the_drawing_has_a_height_for_programs_that_are_no_browser():
    """A converter reads the size of the outermost element and its style: nothing there may undo the size."""
    root = ET.fromstring(md.trace(np.sin, 1.0).svg())
    assert float(root.get("width")) > 50
    assert float(root.get("height")) > 50
    assert root.get("style") is None
    (style,) = (item.text for item in root.iter() if item.tag.endswith("style"))
    assert style.strip().startswith("@media screen")


def lines_of(picture):
    """The lines of each box that is a chain of operations."""
    return [texts for _, texts, _ in nodes_of(picture) if sum(" = " in text for text in texts) > 1]


def test_a_net_with_its_loss_fits_on_a_page():
    """A box for each layer, the loss in two, and every operation in one of them, under its number."""
    picture = svg(NET)
    root = ET.fromstring(picture)
    assert float(root.get("width")) < 800
    assert float(root.get("height")) < 800
    first, second, *loss = lines_of(picture)
    assert first == ["v7 = X @ W1", "v8 = v7 + b1", "v9 = tanh(v8)"]
    assert second == ["v10 = v9 @ W2", "v11 = v10 + b2"]
    assert len(loss) == 2
    drawn = {text.split(" = ")[0] for _, texts, _ in nodes_of(picture) for text in texts if " = " in text}
    listed = set(re.findall(r"^(v\d+) = (?!reshape)\w+\(", str(NET), flags=re.MULTILINE))
    assert drawn == listed


def test_a_gradient_fits_on_a_page_and_writes_transposed_matrices_as_users_do():
    def error(p, x, y):
        return np.mean((np.tanh(x @ p["W"] + p["b"]) @ p["V"] - y) ** 2)

    params = {"W": np.ones((4, 8)), "b": np.ones(8), "V": np.ones((8, 3))}
    picture = md.trace(md.grad(error), params, np.ones((10, 4)), np.ones((10, 3))).svg()
    assert float(ET.fromstring(picture).get("width")) < 800
    texts = [text for _, texts, _ in nodes_of(picture) for text in texts]
    assert any(re.fullmatch(r"v\d+ = x\.T @ v\d+", text) for text in texts)
    assert any(re.fullmatch(r"v\d+ = v\d+ @ p\['V'\]\.T", text) for text in texts)
    assert not any("transpose" in text or "broadcast_to" in text for text in texts)


def test_a_matrix_that_is_transposed_twice_is_itself():
    def f(x, W):
        return np.sum(np.tanh(np.tanh(x @ W.T.T) @ np.tanh(x @ W).T) @ np.sin(x @ W.T))

    texts = [
        text
        for _, texts, _ in nodes_of(svg(trace(f, np.ones((3, 3)), np.ones((3, 3))), collapse=True))
        for text in texts
    ]
    assert "v4 = x @ W" in [re.sub(r"v\d+ = x @ W$", "v4 = x @ W", text) for text in texts]
    assert any(text.endswith("= x @ W.T") for text in texts)


@each_graph
def test_boxes_of_chains_do_not_overlap_and_stand_below_what_they_use(graph):
    boxes = list(nodes_of(svg(graph, collapse=True)))
    for i, (_, _, (left, top, right, bottom)) in enumerate(boxes):
        for _, _, (other_left, other_top, other_right, other_bottom) in boxes[:i]:
            assert right <= other_left or other_right <= left or bottom <= other_top or other_bottom <= top
    box_of = {text.split(" = ")[0]: box for _, texts, box in boxes for text in texts if " = " in text}
    for name, arguments in re.findall(r"^(v\d+) = \w+\((.*?)\) :", str(graph), flags=re.MULTILINE):
        for argument in re.findall(r"\bv\d+", arguments):
            if argument in box_of and name in box_of:
                assert box_of[argument] == box_of[name] or box_of[argument][3] < box_of[name][1]


def test_the_layers_of_a_model_are_boxes():
    model = md.mlp(16, 16, 3).init(8)
    graph = md.trace(lambda p, X: model.with_parameters(p)(X), model.params.to_dict(), np.ones((4, 8)), rows=[1])
    assert [lines[0].partition(" = ")[2].split()[1] for lines in lines_of(graph.svg())] == ["@"] * 3


def test_a_value_that_is_used_twice_ends_a_box_and_its_shape_stands_at_its_edges():
    def shared(x):
        y = np.tanh(np.sin(x) * 2.0)
        return np.sum(y * np.exp(y))

    picture = svg(trace(shared, np.ones(3)), collapse=True)
    assert lines_of(picture)[0] == ["v2 = sin(v1)".replace("v1", "x"), "v3 = v2 * 2", "v4 = tanh(v3)"]
    shapes = [item.text for item in ET.fromstring(picture).iter(f"{SVG}text") if item.get("class") == "shape"]
    assert shapes == ["(3,)"]


def test_a_long_chain_is_shown_by_its_ends():
    (texts,) = lines_of(svg(trace(chain, 1.0), max_nodes=2000))
    assert texts[0] == "v2 = sin(x)"
    assert "... 988 more operations ..." in texts


def test_no_edge_leaves_the_drawing():
    def loss(params, X, y):
        h = np.tanh(X @ params["W1"] + params["b1"])
        z = h @ params["W2"] + params["b2"]
        p = np.exp(z - np.max(z, axis=1, keepdims=True))
        p = p / np.sum(p, axis=1, keepdims=True)
        penalty = np.sum(params["W1"] ** 2) + np.sum(params["W2"] ** 2)
        return -np.mean(np.sum(y * np.log(p), axis=1)) + 0.01 * penalty

    params = {"W1": np.ones((4, 8)), "b1": np.zeros(8), "W2": np.ones((8, 3)), "b2": np.zeros(3)}
    drawing = md.trace(md.grad(loss), params, np.ones((32, 4)), np.ones((32, 3))).svg()
    width = float(re.search(r'viewBox="0 0 (\d+)', drawing)[1])
    places = [
        float(x)
        for path in re.findall(r' d="([^"]*)" fill="none"', drawing)
        for x in re.findall(r"(-?[\d.]+)[ ,]-?[\d.]+", path)
    ]
    assert places
    assert min(places) >= 0.0
    assert max(places) <= width
