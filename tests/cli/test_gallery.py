"""``madaline gallery``: the list, a script to change, and what is refused."""

from __future__ import annotations

from madaline.gallery.runner import GALLERY


def test_the_examples_are_listed(madaline):
    ran = madaline("gallery", "--json")
    assert set(ran.json()) == {example.name for example in GALLERY}


def test_a_script_is_copied_once(madaline, tmp_path):
    ran = madaline("gallery", "clipping", "--copy", "-o", str(tmp_path))
    assert ran.code == 0
    assert (tmp_path / "clipping.py").read_text() == GALLERY.find("clipping").path.read_text()
    assert "--force" in madaline("gallery", "clipping", "--copy", "-o", str(tmp_path)).err


def test_an_unknown_example_is_refused(madaline):
    ran = madaline("gallery", "cliping")
    assert ran.code != 0
    assert "clipping" in ran.err
