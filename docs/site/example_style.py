"""Each example of the gallery starts with the look of the gallery, which sphinx-gallery resets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def reset(configuration: dict[str, Any], name: str | Path) -> None:
    """Forget the module that sets the look, so that the next example sets it again."""
    sys.modules.pop("madaline.gallery.style", None)
