"""The recipes of the guide of clusters, on a real local Spark."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import madaline as md

pytest.importorskip("pyspark", reason="needs Spark: pip install pyspark")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Spark's own
    pytest.mark.skipif(shutil.which("java") is None, reason="needs Java"),
]


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=2000), "kind": rng.choice(["a", "b"], 2000)})
    y = frame["x"] ** 2 + (frame["kind"] == "a")
    model, rows = folder / "model.madaline", folder / "rows.parquet"
    md.MLPRegressor(preset="auto", max_iter=2, random_state=0).fit(frame, y).save(model)
    frame.write_parquet(rows)
    return str(model), str(rows)


def test_map_in_arrow_gives_the_predictions_of_one_computer(spark, files):
    path, rows = files

    def score(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        model = md.load(path)
        for batch in batches:
            predicted = pa.array(model.predict(pl.from_arrow(batch)), pa.float64())
            yield batch.append_column("predicted", predicted)

    table = spark.read.parquet(rows).repartition(3)
    found = table.mapInArrow(score, "x double, kind string, predicted double").toPandas()
    assert len(found) == 2000
    np.testing.assert_array_equal(found["predicted"], md.load(path).predict(found[["x", "kind"]]))


def test_a_pandas_function_gives_the_predictions_of_one_computer(spark, files):
    from pyspark.sql.functions import pandas_udf, struct

    path, rows = files

    def predicted(parts: Iterator[pd.DataFrame]) -> Iterator[pd.Series]:
        model = md.load(path)
        for part in parts:
            yield pd.Series(model.predict(part))

    # Annotations are texts in this file, so the kind of the function is looked up here.
    predicted.__annotations__ = {"parts": Iterator[pd.DataFrame], "return": Iterator[pd.Series]}
    table = spark.read.parquet(rows).repartition(3)
    found = table.withColumn("predicted", pandas_udf("double")(predicted)(struct("x", "kind"))).toPandas()
    np.testing.assert_array_equal(found["predicted"], md.load(path).predict(found[["x", "kind"]]))
