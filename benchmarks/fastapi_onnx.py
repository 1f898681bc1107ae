"""The usual hand-written service: FastAPI, a pydantic model of a row, and ONNX Runtime.

MODEL=model.onnx uvicorn --app-dir benchmarks fastapi_onnx:app
"""

from __future__ import annotations

import os

import numpy as np
import onnxruntime
from fastapi import FastAPI
from pydantic import create_model

settings = onnxruntime.SessionOptions()
settings.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(os.environ["MODEL"], settings)
TYPES = {"tensor(double)": (float | None, np.float64), "tensor(string)": (str | None, object)}
INPUTS = {port.name: TYPES[port.type] for port in session.get_inputs()}
Row = create_model("Row", **{name: (kind, ...) for name, (kind, _) in INPUTS.items()})
app = FastAPI()


def value(given: float | str | None, kind: type) -> float | str:
    return given if given is not None else np.nan if kind is np.float64 else ""


@app.post("/predict")
async def predict(row: Row) -> dict[str, list[float]]:  # type: ignore[valid-type]
    arrays = {name: np.array([value(getattr(row, name), kind)], dtype=kind) for name, (_, kind) in INPUTS.items()}
    return {"predictions": session.run(["prediction"], arrays)[0].tolist()}
