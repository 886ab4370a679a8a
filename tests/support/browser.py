"""A real browser that opens pages: Debian's Chromium, driven by Playwright, and what it complains about."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

# Nothing that Chromium does by itself may be taken for a request of the page.
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Opened:
    """A page with what happened on it since it was opened."""

    page: Any
    errors: list[str] = field(default_factory=list)  # of the console and of scripts
    requests: list[str] = field(default_factory=list)  # addresses, those of data within the page left out


@contextmanager
def opened(address: str, *, width: int = 1200, height: int = 900, scheme: str = "light") -> Iterator[Opened]:
    """Open an address in Chromium; the test is skipped where there is none."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        pytest.skip("no chromium on the PATH: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="no Playwright to drive a browser with")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
        )
        seen = Opened(page)
        page.on("console", lambda message: seen.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("request", lambda request: _note(seen.requests, request.url))
        page.goto(address)
        try:
            yield seen
        finally:
            browser.close()


def _note(requests: list[str], address: str) -> None:
    if not address.startswith(("data:", "blob:")):
        requests.append(address)


def file_address(path: Path) -> str:
    """The address by which a browser opens a file."""
    return path.resolve().as_uri()
