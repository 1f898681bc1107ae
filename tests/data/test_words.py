"""Columns of text with several words."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import madaline as md
from madaline.data.encode import TablePlan
from madaline.data.words import FEWEST_ROWS, MOST_WORDS, Words, frequent_words
from madaline.errors import ConfigError

RNG = np.random.default_rng(0)
IS_GOOD = RNG.integers(0, 2, 200).astype(bool)
FILL = [f"w{k}" for k in range(60)]
REVIEWS = [
    " ".join(RNG.permutation([*RNG.choice(FILL, 7), "Good" if good else "bad", "the"]).tolist()) for good in IS_GOOD
]
TABLE = {"review": REVIEWS, "x": RNG.normal(size=200)}


def test_counts_of_words_are_encoded_without_regard_to_case():
    plan = Words("review", words=("good", "bad"))
    out = np.empty((4, 3), dtype=np.float32)
    plan.write(np.array(["Good, GOOD; good! good", "a bad one", None, ""], dtype=object), out)
    np.testing.assert_allclose(out, [[2, 0, np.log(5)], [0, 1, np.log(4)], [0, 0, 0], [0, 0, 0]], rtol=1e-6)
    assert plan.features() == ("review: good", "review: bad", "review number of words")


def test_words_that_are_rare_or_in_nearly_all_texts_have_no_column():
    texts = ["the common word"] * FEWEST_ROWS + ["the rare"] * (FEWEST_ROWS - 1) + ["the other"] * 20 + [None] * 9
    assert frequent_words(texts) == ("other", "common", "word")
    assert len(frequent_words([" ".join(f"w{k}" for k in range(r % 2, 900, 2)) for r in range(20)])) == MOST_WORDS


def test_text_of_several_words_is_used_and_names_are_left_out():
    names = [f"Smith {k}, John" for k in range(200)]
    plan = TablePlan.fit(TABLE | {"name": names})
    assert {role.column: role.role for role in plan.roles()} == {"review": "text", "x": "number", "name": "id"}
    assert {"review: good", "review: bad"} < set(plan.features())
    assert "review: the" not in plan.features()
    again = TablePlan.from_dict(plan.to_dict())
    np.testing.assert_array_equal(again.encode(TABLE | {"name": names})["numbers"], plan.encode(TABLE)["numbers"])


def test_the_user_decides():
    roles = {role.column: role.role for role in TablePlan.fit(TABLE, text=["x"], ignore=["review"]).roles()}
    assert roles == {"review": "ignored", "x": "text"}
    with pytest.raises(ConfigError, match="listed in categorical and in text"):
        TablePlan.fit(TABLE, text=["review"], categorical=["review"])


def test_an_estimator_learns_from_text_and_its_file_predicts(tmp_path):
    model = md.MLPClassifier((8,), preset="auto", max_iter=40, random_state=0).fit(TABLE, IS_GOOD)
    assert model.score(TABLE, IS_GOOD) > 0.95
    md.save(model, tmp_path / "m.madaline")
    new = pl.DataFrame({"x": [0.0, 0.0, 0.0], "review": ["good", None, "never seen"]})
    np.testing.assert_array_equal(md.load(tmp_path / "m.madaline").predict_proba(new), model.predict_proba(new))
    with pytest.raises(ConfigError, match="exported files cannot split text"):
        md.export(model, tmp_path / "net.py", to="python")
