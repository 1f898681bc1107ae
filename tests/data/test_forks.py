"""Encoding in forked worker processes, after the thread pools of polars and pyarrow were started in the parent."""

from __future__ import annotations

import os

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")

CODE = """
import datetime as dt, multiprocessing, warnings
import numpy as np, pandas as pd, polars as pl, pyarrow as pa
import madaline as md
from madaline.data.target import TargetReader

warnings.simplefilter("ignore", DeprecationWarning)  # Python warns about forks with threads
n = 60
day = dt.datetime(2023, 1, 1)
columns = {
    "size": [None if k % 7 == 3 else k * 0.37 % 5 for k in range(n)],
    "city": [None if k % 11 == 5 else ["Rome", "Oslo", "Bern"][k % 3] for k in range(n)],
    "street": [f"street {k * 7 % 20}" for k in range(n)],
    "typed": [f"{k * 1.3 % 9:.2f}" for k in range(n)],
    "new": [None if k % 13 == 1 else k % 3 == 0 for k in range(n)],
    "sold": [day + dt.timedelta(days=9 * k, hours=k % 5) for k in range(n)],
    "seen": [(day + dt.timedelta(days=5 * k)).strftime("%d.%m.%Y") for k in range(n)],
}
zoned = [moment.replace(tzinfo=dt.timezone.utc) for moment in columns["sold"]]
pandas = pd.DataFrame(columns)
polars = pl.DataFrame(columns)
tables = {
    "dict": columns,
    "rows": [dict(zip(columns, row)) for row in zip(*columns.values())],
    "numpy": {name: np.array(values, dtype=object) for name, values in columns.items()},
    "pandas": pandas,
    "pandas categories": pandas.astype({"city": "category"}),
    "pandas zones": pandas.assign(sold=zoned),
    "polars": polars,
    "polars chunks": pl.concat([polars[:20], polars[20:]], rechunk=False),
    "polars categories": polars.with_columns(
        pl.col("city").cast(pl.Categorical), pl.col("street").cast(pl.Enum(sorted(set(columns["street"]))))
    ),
    "polars zones": polars.with_columns(pl.col("sold").dt.replace_time_zone("UTC")),
    "polars decimals": polars.with_columns(pl.col("size").cast(pl.Decimal(10, 2)).cast(pl.Float64)),
    "pyarrow": pa.table(columns),
}
y = ["yes" if k % 2 else "no" for k in range(n)]
plan, target = md.data.TablePlan.fit(polars, y), TargetReader.fit(y)
kinds = {role.column: role.role for role in plan.roles()}
assert kinds["city"] == kinds["street"] == "category" and kinds["seen"] == "date" and kinds["typed"] == "number", kinds
polars.lazy().group_by("city").agg(pl.col("size").sum()).sort("city").collect()  # starts the pool of polars
expected = {name: plan.encode(table) for name, table in tables.items()}

def work(name):
    return plan.encode(tables[name]), target.values(y)

workers = multiprocessing.get_context("fork").Pool(1)
try:
    for name in tables:
        arrays, codes = workers.apply_async(work, (name,)).get(timeout=20)
        assert arrays.keys() == expected[name].keys()
        for key in arrays:
            np.testing.assert_array_equal(arrays[key], expected[name][key], err_msg=name)
        assert codes.tolist() == y
        print(name)
finally:
    workers.terminate()
"""

FIRST_IN_CHILD = """
import os, sys, time, warnings
import polars as pl
warnings.simplefilter("ignore", DeprecationWarning)
frame = pl.DataFrame({"c": ["a", "b", "a", None] * 5, "d": ["2024-01-31", "2024-02-01", "2024-03-01", None] * 5})
frame.lazy().sort("c").collect()
child = os.fork()
if not child:
    import madaline as md
    plan = md.data.TablePlan.fit(frame)
    assert plan.encode(frame)["numbers"].shape[0] == 20
    os._exit(0)
deadline = time.monotonic() + 30
while time.monotonic() < deadline:
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended:
        sys.exit(os.waitstatus_to_exitcode(status))
    time.sleep(0.02)
os.kill(child, 9)
sys.exit("the child hangs")
"""

ESTIMATOR = """
import multiprocessing, warnings
import numpy as np, pandas as pd, polars as pl
import madaline as md

warnings.simplefilter("ignore", DeprecationWarning)
n = 80
columns = {
    "size": [0.37 * k % 5 for k in range(n)],
    "city": [["Rome", "Oslo", None][k % 3] for k in range(n)],
    "day": [f"{1 + k % 28}/{1 + k % 12}/2023" for k in range(n)],
}
y = ["yes" if k % 3 else "no" for k in range(n)]
frames = {"pandas": pd.DataFrame(columns), "polars": pl.DataFrame(columns), "dict": columns}
warnings.simplefilter("ignore")
model = md.MLPClassifier((8,), data="auto", max_iter=3, random_state=0).fit(frames["polars"], y)
expected = model.predict_proba(frames["polars"])
frames["polars"].lazy().sort("city").collect()

def work(name):
    return model.predict_proba(frames[name])

workers = multiprocessing.get_context("fork").Pool(2)
try:
    for name in frames:
        np.testing.assert_array_equal(workers.apply_async(work, (name,)).get(timeout=20), expected)
finally:
    workers.terminate()
"""


def test_an_estimator_that_was_fitted_in_the_parent_predicts_in_forked_workers(run_python):
    run = run_python(ESTIMATOR)
    assert run.returncode == 0, run.stderr


def test_every_kind_of_table_is_encoded_in_a_forked_worker(run_python):
    run = run_python(CODE)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.split("\n")[-2] == "pyarrow"


def test_a_plan_can_be_fitted_in_a_process_that_was_forked_before_madaline_was_imported(run_python):
    run = run_python(FIRST_IN_CHILD)
    assert run.returncode == 0, run.stderr
