"""One HTML file with a form that predicts in the browser, without a network."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from madaline.errors import ExportError
from madaline.estimators.base import NetEstimator
from madaline.estimators.explanations import CLOSE, MOST_STEPS, STEPS
from madaline.report.html.style import DARK, LIGHT
from madaline.ship.answers import inference_of_estimator
from madaline.ship.attribution import CHOSEN, attribution_of
from madaline.ship.escape import page_json, page_text
from madaline.ship.fields import fields_of
from madaline.ship.inference import InferenceGraph
from madaline.ship.js_module import js_functions

if TYPE_CHECKING:
    from madaline.functional.model import Model

COVERAGE = 0.9
"Coverage of the prediction intervals of a page."

COLOURS = f":root{{{LIGHT}}}@media (prefers-color-scheme:dark){{:root{{{DARK}}}}}"

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<header><h1 id="title">{title}</h1><p class="quiet" id="about">{about}</p><nav id="models"></nav></header>
<section id="answer" aria-live="polite"></section>
<form id="form" autocomplete="off"></form>
<section id="parts"></section>
<footer><span id="foot">{foot}</span><button type="button" class="plain" id="reset">Reset</button></footer>
</main>
{scripts}
</body>
</html>
"""


@cache
def asset(name: str) -> str:
    """A file of the page: its style sheet or a script."""
    return files("madaline.ship").joinpath("page", name).read_text(encoding="utf-8")


def page(title: str, about: str, foot: str, script: str, *, data: str = "", allowed: str = "") -> tuple[str, str]:
    """A page with a form.

    Parameters
    ----------
    title, about, foot : str
        Texts; they are escaped.
    script : str
        Source code, which must not hold text of others.
    data : str
        A JSON document for the script, already escaped.
    allowed : str
        Further rules of the content security policy.

    Returns
    -------
    page, policy : str
        The policy allows only this script, and no network.
    """
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src '{_digest(script)}'; base-uri 'none'; "
        f"form-action 'none'{allowed}"
    )
    tags = [f'<script type="application/json" id="data">{data}</script>'] if data else []
    text = PAGE.format(
        policy=policy,
        title=page_text(title),
        about=page_text(about),
        foot=page_text(foot),
        style=f"{COLOURS}\n{asset('form.css')}",
        scripts="\n".join([*tags, f"<script>{script}</script>"]),
    )
    return text, policy


def _digest(script: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def html_files(model: Model, dtype: DTypeLike | None, path: Path) -> dict[Path, bytes]:
    """The page and its content."""
    if not hasattr(model, "predict"):
        raise ExportError("A page needs a fitted estimator, because a model alone has no columns and no targets.")
    inference = inference_of_estimator(model, dtype, interval=COVERAGE)
    graphs = [("predict", inference)]
    about = _about(model, inference)
    if isinstance(model, NetEstimator):
        attribution = attribution_of(model)
        graphs.append(("attribute", attribution))
        about["integral"] = {"steps": STEPS, "mostSteps": MOST_STEPS, "close": CLOSE}
        about["nExplained"] = next(port.size for port in attribution.inputs if port.title.value == CHOSEN)
    script = "\n".join(
        [
            '"use strict";',
            js_functions(graphs),
            asset("local_engine.js"),
            asset("form.js"),
            'const about = JSON.parse(document.getElementById("data").textContent);',
            f"startForm(about, localEngine(about, predict, {'attribute' if len(graphs) > 1 else 'null'}));",
        ]
    )
    targets = about["targets"]
    text, _ = page(
        f"Prediction of {', '.join(targets)}",
        "Change the inputs, and the answer follows. A curve shows how the answer changes with its input.",
        "Computed in this page, without a network. Leave a field empty for a missing value. Written by madaline.",
        script,
        data=page_json(about),
    )
    return {path: text.encode()}


def _about(estimator: Any, inference: InferenceGraph) -> dict[str, Any]:
    """What the scripts need to know about the model."""
    outputs = {port.title.value: port for port in inference.outputs}
    if "label" in outputs:
        output, classes = "classes", [str(given.value) for given in outputs["label"].values]
    elif "labels" in outputs:
        output = "labels"
        names = getattr(estimator, "target_names_", ())
        classes = [str(name) for name in names]
    elif any(str(name).startswith("label_") for name in outputs):
        raise ExportError("A page predicts one target of classes, and the estimator has several. Fit one for each.")
    else:
        output, classes = "numbers", []
    levels = getattr(estimator, "quantiles", ())
    targets = [str(name) for name in getattr(estimator, "target_names_", ("y",))]
    return {
        "output": output,
        "classes": classes,
        "targets": targets,
        "outputs": [f"{name}, quantile {level}" for name in targets for level in np.ravel(levels).tolist()]
        if "quantiles" in outputs
        else [],
        "coverage": COVERAGE,
        "isMatrix": not any(port.is_column for port in inference.inputs),
        "fields": [each.to_plain() for each in fields_of(estimator)],
    }
