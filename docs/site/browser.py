"""Open every page of the site in Chromium, wide and narrow, and report what is wrong: ``make test-docs``.

A page must load without errors in the console and without missing files, show all its pictures and formulas, and not be
wider than the window. With ``--pictures FOLDER``, also write screenshots of the given pages.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import sys
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

WIDTHS = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}

READY = (
    "async () => { if (window.MathJax?.startup?.promise) await MathJax.startup.promise; await document.fonts.ready }"
)
BROKEN = """() => [
  ...[...document.images].filter(i => i.loading !== "lazy" && !i.naturalWidth).map(i => `broken picture ${i.src}`),
  ...[...document.querySelectorAll("mjx-merror, [data-mjx-error]")].map(e => `formula ${e.title || e.textContent}`),
  ...[...document.querySelectorAll("img:not([alt])")].map(i => `picture without alt text ${i.src}`),
]"""
TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width + 1) return [];
  const clips = e => /(auto|scroll|hidden|clip)/.test(getComputedStyle(e).overflowX);
  const scrolls = e => e && e !== document.body && (clips(e) || scrolls(e.parentElement));
  const wide = e => e.getBoundingClientRect().right > width + 1 && !scrolls(e.parentElement);
  const say = e => `wider than the window: ${e.tagName}.${e.className} "${e.textContent.trim().slice(0, 40)}"`;
  return [...document.querySelectorAll("main *")].filter(wide).slice(0, 3).map(say).concat("wider than the window");
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that does not log requests."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Print nothing."""


def check(page: Page, url: str, problems: list[str]) -> list[str]:
    """Open a page at each width; returns what is wrong with it."""
    problems.clear()
    page.set_viewport_size(WIDTHS["desktop"])
    page.goto(url, wait_until="load")
    page.evaluate(READY)
    found = [*problems, *page.evaluate(BROKEN)]
    for name, size in WIDTHS.items():
        page.set_viewport_size(size)
        found += [f"{name}: {each}" for each in page.evaluate(TOO_WIDE)]
    return found


def photograph(page: Page, base: str, names: list[str], folder: Path) -> None:
    """Screenshots at each width in light and dark mode."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for mode in ("light", "dark"):
            page.emulate_media(color_scheme=mode)
            for width, size in WIDTHS.items():
                page.set_viewport_size(size)
                page.goto(f"{base}/{name}", wait_until="load")
                page.evaluate(READY)
                file = folder / f"{name.replace('/', '-').removesuffix('.html')}-{width}-{mode}.png"
                page.screenshot(path=file, full_page=width == "desktop")


def main() -> int:
    """Check all pages, or photograph some."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("names", nargs="*", help="pages; by default all")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    args = parser.parse_args()
    names = args.names or sorted(
        file.relative_to(args.site).as_posix() for file in args.site.rglob("*.html") if "_static" not in file.parts
    )
    handler = functools.partial(Quiet, directory=args.site)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=args.chromium, args=["--no-sandbox"])
        page = browser.new_page()
        problems: list[str] = []
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("requestfailed", lambda request: problems.append(f"{request.url} failed"))
        page.on(
            "request", lambda request: None if request.url.startswith((base, "data:")) else problems.append(request.url)
        )
        if args.pictures:
            photograph(page, base, names, args.pictures)
        else:
            for name in names:
                found = check(page, f"{base}/{name}", problems)
                failed += bool(found)
                print(*(f"{name}: {each}" for each in found), sep="\n", end="\n" if found else "")
            print(f"{len(names)} pages at {len(WIDTHS)} widths, {failed} with problems")
        browser.close()
    server.shutdown()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
