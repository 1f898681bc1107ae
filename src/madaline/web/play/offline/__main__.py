"""Write the page without a server: ``python -m madaline.web.play.offline page.html``."""

from __future__ import annotations

import sys
from pathlib import Path

from madaline.web.play.offline.page import write_page

if __name__ == "__main__":
    to = Path(sys.argv[1])
    to.parent.mkdir(parents=True, exist_ok=True)
    sizes = write_page(to)
    print(f"{to}: " + ", ".join(f"{name} {size:,}" for name, size in sizes.items()))
