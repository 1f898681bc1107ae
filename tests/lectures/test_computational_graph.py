"""The computational graph: a directed graph without cycles, its nodes in topological order. Lecture row A5."""

from __future__ import annotations

import re

import numpy as np
import pytest

import madaline as md


def neuron(w, x, b):
    return md.functional.sigmoid(np.vdot(w, x) + b)


def speelpenning(w):
    v = 1.0
    for j in range(len(w)):
        v = v * w[j]
    return v


def two_layers(x, params):
    h = np.tanh(x @ params["W1"] + params["b1"])
    return np.mean((h @ params["W2"]) ** 2) + 0.1 * np.sum(params["W1"] ** 2)


GRAPHS = {
    "neuron": md.trace(neuron, np.ones(3), np.ones(3), 0.5),
    "speelpenning": md.trace(speelpenning, np.ones(5)),
    "two layers": md.trace(
        two_layers, np.ones((4, 3)), {"W1": np.ones((3, 2)), "b1": np.ones(2), "W2": np.ones((2, 1))}
    ),
    "gradient": md.trace(md.grad(speelpenning), np.ones(5)),
    "hessian": md.trace(md.hessian(speelpenning), np.ones(3)),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_every_edge_leads_from_a_lower_number_to_a_higher_one(name):  # A5
    """(v_i, v_j) in E implies i < j."""
    nodes = GRAPHS[name].nodes
    number = {id(node): i for i, node in enumerate(nodes)}
    assert len(number) == len(nodes)  # each node once
    edges = [(number[id(item)], number[id(node)]) for node in nodes for item in node.inputs]
    assert edges
    assert all(i < j for i, j in edges)


@pytest.mark.parametrize("name", GRAPHS)
def test_inputs_come_first_and_outputs_are_reached_from_them(name):  # A5
    """v_1 ... v_d are inputs; every other node is computed from earlier ones or is a constant."""
    graph = GRAPHS[name]
    d = len(graph.inputs)
    assert all(node is given for node, given in zip(graph.nodes[:d], graph.inputs, strict=True))
    assert all(node.inputs or node.primitive.name == "constant" for node in graph.nodes[d:])
    assert {id(node) for node in graph.outputs} <= {id(node) for node in graph.nodes}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_printed_graph_uses_only_names_above_each_line(name):  # A5
    """v_i = f_i(I_i), in the lecture's notation."""
    *assignments, last = str(GRAPHS[name]).splitlines()
    for i, line in enumerate(assignments, start=1):
        assert line.startswith(f"v{i} = ")
        used = [int(number) for number in re.findall(r"\bv(\d+)\b", line.partition(" = ")[2])]
        assert all(j < i for j in used)
    assert re.fullmatch(r"return v\d+(, v\d+)*", last)


def test_the_graph_can_be_evaluated_in_its_order_by_hand():  # A5
    """Sequentially for i = 1, ..., d + k + m compute v_i = w_i or v_i = f_i(I_i)."""
    graph = GRAPHS["speelpenning"]
    w = np.array([2.0, 3.0, 5.0, 7.0, 11.0])
    v = {}
    for node in graph.nodes:
        if node.primitive.name == "input":
            v[id(node)] = w
        elif node.primitive.name == "constant":
            v[id(node)] = node.params["value"]
        else:
            v[id(node)] = node.primitive.value(*(v[id(item)] for item in node.inputs), **node.params)
    assert v[id(graph.outputs[0])] == 2 * 3 * 5 * 7 * 11


def test_the_graph_can_be_counted_and_drawn():  # A5
    graph = GRAPHS["neuron"]
    assert graph.counts()["input"] == 3
    assert graph.counts()["sigmoid"] == 1
    assert graph.flops() >= 2 * 3 + 1 + 1
    drawing = graph.svg()
    assert drawing.lstrip().startswith("<svg")
    assert "sigmoid" in drawing
