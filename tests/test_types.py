"""``Any`` in the signatures of public names: the numbers below may fall, and never rise."""

import importlib
import inspect
import re
from collections import Counter

import pytest

from madaline.public import INDEXED

RECORDED = {
    "config": 1,
    "data": 4,
    "description": 5,
    "doctor": 7,  # plain data of findings
    "estimators": 23,
    "functional": 37,
    "graph": 19,
    "losses": 14,
    "nn": 26,
    "optim": 3,
    "ship": 4,
    "train": 16,
    "tune": 1,
}


def signatures(value):
    """The functions of a public name: itself, or the public methods of a class that madaline defines."""
    if not isinstance(value, type):
        yield f"{value.__module__}.{getattr(value, '__name__', value)}", value
        return
    for owner in value.__mro__:
        for name, member in vars(owner).items() if owner.__module__.startswith("madaline.") else ():
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if inspect.isfunction(function) and (name in ("__init__", "__call__") or not name.startswith("_")):
                yield f"{owner.__module__}.{owner.__qualname__}.{name}", function


def places_with_any():
    """Each parameter or result of a public name whose type has an ``Any``; ``*args`` and ``**options`` may be any."""
    modules = [importlib.import_module(".".join(filter(None, ("madaline", name)))) for name in ("", *INDEXED)]
    public = [getattr(module, name) for module in modules for name in getattr(module, "__all__", ())]
    found = set()
    for path, function in (pair for value in public if callable(value) for pair in signatures(value)):
        try:
            signature = inspect.signature(function)
        except ValueError:  # not written in Python
            continue
        hints = {name: item.annotation for name, item in signature.parameters.items() if item.kind not in (2, 4)}
        hints["return"] = signature.return_annotation
        found |= {f"{path}: {name}" for name, hint in hints.items() if re.search(r"\bAny\b", str(hint))}
    return found


@pytest.fixture(scope="module")
def places():
    return places_with_any()


@pytest.mark.parametrize("package", sorted(RECORDED))
def test_public_signatures_have_no_new_any(places, package):
    found = sorted(place for place in places if place.split(".")[1].split(":")[0] == package)
    assert len(found) <= RECORDED[package], f"Give these real types: {found}"


def test_every_other_package_has_real_types_in_all_its_public_signatures(places):
    counts = Counter(place.split(".")[1] for place in places)
    assert set(counts) <= set(RECORDED), f"Give these real types: {sorted(places)}"
