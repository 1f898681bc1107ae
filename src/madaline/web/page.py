"""The form page of the server."""

from __future__ import annotations

PAGE = "<!doctype html><title>madaline</title>"
PAGE_POLICY = "default-src 'none'"
