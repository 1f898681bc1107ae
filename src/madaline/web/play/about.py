"""What a page must know to show the controls: settings with their choices, lessons, small pictures of the data."""

from __future__ import annotations

from typing import Any

from madaline import __version__
from madaline.web.play.choices import listed
from madaline.web.play.features import FEATURES
from madaline.web.play.lessons import LESSONS
from madaline.web.play.points import MOST_POINTS
from madaline.web.play.problem import thumbnails
from madaline.web.play.settings import MOST_LAYERS, MOST_UNITS, schema


def about() -> dict[str, Any]:
    """Everything but the table of the command line."""
    return {
        "version": __version__,
        "fields": schema(),
        "activations": listed("activations"),
        "features": [
            {"name": each.name, "label": each.label, "coordinates": each.n_coordinates} for each in FEATURES.values()
        ],
        "thumbnails": thumbnails(),
        "lessons": [vars(lesson) for lesson in LESSONS],
        "most": {"layers": MOST_LAYERS, "units": MOST_UNITS, "points": MOST_POINTS},
        "table": None,
        "start": "",
    }
