"""Versions of everything that decides about the last digits of a model."""

from __future__ import annotations

import platform

from madaline.cli.config import RunConfig
from madaline.cli.screen import Screen


def versions() -> dict[str, str]:
    """Versions of packages, system and instruction set, by name."""
    import numpy as np
    import polars as pl
    import sklearn

    from madaline import __version__
    from madaline.kernels.core import isa
    from madaline.kernels.execute import executor

    return {
        "madaline": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "polars": pl.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "instructions": (None if executor() == "reference" else isa()) or "reference",
    }


def show_other_versions(settings: RunConfig, screen: Screen) -> None:
    """Say which differences to the run that wrote a config may change the result."""
    now = versions()
    then = {
        name: settings.versions[name] for name in ("madaline", "numpy", "instructions") if name in settings.versions
    }
    changed = [f"{name} {value} (here {now[name]})" for name, value in then.items() if value != now[name]]
    if changed:
        screen.say(
            f"  Warning: the config was written with {', '.join(changed)}: the model may differ in the last digits.",
            style="yellow",
        )
