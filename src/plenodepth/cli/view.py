"""``plenodepth view``: look at results in the browser."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.view.browser.frames import Frame

LOOPBACK = "127.0.0.1"


def view(
    source: Annotated[
        Path,
        typer.Argument(metavar="SOURCE", help="Folder of results, or a cloud (.ply, .pts …).", show_default=False),
    ],
    host: Annotated[str, typer.Option("--host", help="Where to listen; the default is this machine alone.")] = LOOPBACK,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen at; 0: any free one.")] = 8080,
    open_page: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = False,
    points: Annotated[
        int, typer.Option("--points", min=1000, help="Points that are drawn at most; larger clouds are thinned.")
    ] = 1_000_000,
) -> None:
    """Look at a result in the browser: coloured cloud, confidence, σ, range. Ctrl-C ends it.

    Example: [bold]plenodepth view depth --open[/bold]
    """
    from plenodepth.view.browser.server import address, is_loopback, require_viser, served
    from plenodepth.view.browser.viewer import Viewer

    require_viser()
    frames = _frames(source)
    try:
        with served(host, port, source.name) as server, Viewer(server, frames, most_points=points):
            print(f"{source}: look at {address(server)} (Ctrl-C ends)", flush=True)
            if not is_loopback(host):
                print(f"plenodepth: note: whoever reaches {host} sees this result", file=sys.stderr)
            if open_page:
                typer.launch(address(server))
            threading.Event().wait()
    except KeyboardInterrupt:
        print("ended")


def _frames(source: Path) -> list[Frame]:
    from plenodepth.view.browser.frames import is_cloud, open_frames

    if source.is_file() and not is_cloud(source):
        raise InputError("is neither a folder of results nor a cloud", file=source, fix="give one of them")
    return open_frames(source)
