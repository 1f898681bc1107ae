"""``madaline gallery``: the list, a script to change, and what is refused."""

from __future__ import annotations

import pytest

from madaline.gallery.runner import GALLERY


def test_the_examples_are_listed(madaline):
    ran = madaline("gallery", "--json")
    assert set(ran.json()) == {example.name for example in GALLERY}


def test_a_script_is_copied_once(madaline, tmp_path):
    ran = madaline("gallery", "clipping", "--copy", "-o", str(tmp_path))
    assert ran.code == 0
    assert (tmp_path / "clipping.py").read_text() == GALLERY.find("clipping").path.read_text()
    assert "--force" in madaline("gallery", "clipping", "--copy", "-o", str(tmp_path)).err


def test_a_changed_copy_is_run(madaline, tmp_path):
    script = tmp_path / "mine.py"
    script.write_text('"""\nMine\n====\n"""\nfrom madaline.gallery.style import panels\nfigure, axes = panels(1)\n')
    ran = madaline("gallery", str(script), "-o", str(tmp_path))
    assert ran.code == 0
    assert "Mine" in ran.out
    assert (tmp_path / "mine.png").exists()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("assert 1 > 2", "A claim of the example does not hold, line 4 of mine.py: assert 1 > 2"),
        ("1 / 0", "ZeroDivisionError in line 4 of mine.py: 1 / 0"),
    ],
)
def test_a_change_that_breaks_a_script_is_told_with_its_line(madaline, tmp_path, code, told):
    script = tmp_path / "mine.py"
    script.write_text(f'"""\nMine\n"""\n{code}\n')
    ran = madaline("gallery", str(script), "-o", str(tmp_path))
    assert ran.code != 0
    assert told in ran.err
    assert "Internal error" not in ran.err


def test_a_script_that_cannot_be_read_is_refused(madaline, tmp_path):
    script = tmp_path / "mine.py"
    assert "There is no file" in madaline("gallery", str(script)).err
    script.write_text("def (")
    ran = madaline("gallery", str(script))
    assert ran.code != 0
    assert "is not a Python script" in ran.err


def test_an_unknown_example_is_refused(madaline):
    ran = madaline("gallery", "cliping")
    assert ran.code != 0
    assert "clipping" in ran.err


@pytest.mark.parametrize("options", [["first_units"], ["first_units", "--copy"]])
def test_the_folder_for_pictures_is_made(options, tmp_path, monkeypatch, madaline):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MADALINE_QUICK", "1")
    ran = madaline("gallery", *options)
    assert ran.code == 0, ran.err
    assert list((tmp_path / "gallery").iterdir())
