"""Changes of files: of their bytes, document and arrays. Every change follows from a random generator."""

from __future__ import annotations

import copy

import numpy as np

NUMBERS = [0, 1, -1, 2, 7, 64, 255, 2**31 - 1, 2**31, 2**53, 2**62, 2**63, 2**70, -(2**63), 10**400]
FLOATS = [0.5, -0.0, 1e-300, 1e300, float("nan"), float("inf"), -float("inf")]
TEXTS = ["", "a", "linear", "sequential", "layer", "same", "custom", "relu", "float64", "int64", "n", "-n+3"]
TEXTS += ["\x00", "\ud800", "é" * 50, "[" * 300]
OTHERS = [None, True, False, [], {}, [[]], [0], [None], ["a"], {"kind": "layer"}, {"kind": "float", "name": "nan"}]
OTHERS += [{"list": []}, {"array": "x"}]


def changed_bytes(content, rng):
    """A file with a few bytes changed, cut or repeated."""
    found = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(0, max(1, len(found))))
        how = rng.integers(0, 10)
        if how < 6 and found:
            found[place] ^= 1 << int(rng.integers(0, 8))
        elif how == 6 and found:
            found[place] = int(rng.integers(0, 256))
        elif how == 7:
            del found[place : place + int(rng.integers(1, 50))]
        elif how == 8:
            del found[place:]
        else:
            found[place:place] = found[place : place + int(rng.integers(1, 50))]
    return bytes(found)


def places(tree, way=()):
    """Every place in nested dicts and lists."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*way, key)
        yield from places(value, (*way, key))


def changed_document(document, rng):
    """A document with one to three of its values replaced, removed, renamed, exchanged or repeated."""
    found = copy.deepcopy(document)
    for _ in range(rng.integers(1, 4)):
        ways = list(places(found))
        if not ways:
            return found
        # Half of the time by depth first, because long lists of numbers would get nearly all changes.
        depth = rng.integers(1, 1 + max(map(len, ways)))
        chosen = [way for way in ways if len(way) == depth] if rng.random() < 0.5 else ways
        way = chosen[rng.integers(len(chosen))]
        inside = _at(found, way[:-1])
        _change(inside, way[-1], found, ways, rng)
    return found


def _change(inside, key, whole, ways, rng):
    value = inside[key]
    how = rng.integers(0, 8)
    if how == 0:
        del inside[key]
    elif how == 1:
        inside[key] = copy.deepcopy(_at(whole, ways[rng.integers(len(ways))]))  # of another place
    elif how == 2 and isinstance(inside, dict):
        inside[str(pick(TEXTS, rng))] = inside.pop(key)
    elif how == 3:
        inside[key] = [value] if rng.random() < 0.5 else {"x": value}
    elif how == 4 and isinstance(inside, list):
        inside.extend([copy.deepcopy(value)] * int(rng.integers(1, 5)))
    elif how == 5 and isinstance(value, (int, float)) and not isinstance(value, bool):
        inside[key] = value + int(rng.integers(-3, 4)) if rng.random() < 0.5 else -value
    else:
        inside[key] = copy.deepcopy(pick(pick([NUMBERS, FLOATS, TEXTS, OTHERS], rng), rng))


def changed_arrays(arrays, rng):
    """Arrays with one of them removed, of another shape or dtype, or with other numbers."""
    found = {name: array.copy() for name, array in arrays.items()}
    if not found:
        return found
    name = pick(sorted(found), rng)
    array = found[name]
    how = rng.integers(0, 7)
    if how == 0:
        del found[name]
    elif how == 1:
        found[name] = array.T
    elif how == 2:
        found[name] = array[None]
    elif how == 3:
        found[name] = array.astype(pick(["float32", "float64", "int64", "bool", "uint8", "float16"], rng))
    elif how == 4:
        found[name] = array.ravel()[: int(rng.integers(0, array.size + 1))]
    elif how == 5:
        found[str(pick(TEXTS[1:9], rng))] = found.pop(name)
    elif array.size:
        with np.errstate(all="ignore"):
            array.flat[int(rng.integers(array.size))] = pick([0, -1, 255, 2**30, -(2**30)], rng)
            if array.dtype.kind == "f":
                array.flat[int(rng.integers(array.size))] = pick(FLOATS, rng)
    return found


def pick(things, rng):
    """One of them."""
    return things[rng.integers(len(things))]


def _at(tree, way):
    for key in way:
        tree = tree[key]
    return tree
