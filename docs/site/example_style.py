"""What the site changes for examples of the gallery: each starts with their look, and animations are GIFs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def reset(configuration: dict[str, Any], name: str | Path) -> None:
    """Forget the module that sets the look, so that the next example sets it again, as sphinx-gallery resets it."""
    sys.modules.pop("madaline.gallery.style", None)


def animations(block: Any, variables: dict[str, Any], configuration: dict[str, Any]) -> str:
    """Write the animations of a block as GIFs and close their figures, so that no other picture of them is made.

    Players of matplotlib load fonts from another site, and hold every frame as a picture in the page.
    """
    from matplotlib import pyplot as plt
    from matplotlib.animation import Animation, PillowWriter
    from sphinx_gallery.scrapers import figure_rst

    written = []
    open_figures = [plt.figure(number) for number in plt.get_fignums()]
    for animation in variables["example_globals"].values():
        if isinstance(animation, Animation) and animation._fig in open_figures:  # noqa: SLF001 - no public name
            path = Path(next(variables["image_path_iterator"])).with_suffix(".gif")
            animation.save(path, writer=PillowWriter(fps=2), dpi=90)
            plt.close(animation._fig)  # noqa: SLF001 - as above
            written.append(str(path))
    return figure_rst(written, configuration["src_dir"]) if written else ""
