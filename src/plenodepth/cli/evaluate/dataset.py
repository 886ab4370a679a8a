"""`plenodepth evaluate dataset`: what a folder of real data holds, and what it lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plenodepth.cli.shared.common import JsonOption, console, plain_table, print_json


def dataset(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="An unpacked dataset: R12-A … R12-ELP20, or one's own.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Say which parts of a dataset are in a folder, which are missing, and where they were looked for.

    Files are told by their content, images by libpleno's lists of images or by the words of their paths.

    Example: [bold]plenodepth evaluate dataset R12-A[/bold]
    """
    from plenodepth.io.libpleno.dataset import LOOKED_FOR, find_dataset

    found = find_dataset(folder)
    if as_json:
        files = {kind: [str(path) for path in paths] for kind, paths in found.files.items()}
        missing = {kind: LOOKED_FOR[kind] for kind in found.missing}
        content = {"folder": str(folder), "files": files, "missing": missing, "lost_images": list(found.lost)}
        print_json({**content, "unknown_files": found.unknown})
        return
    table = plain_table(f"{folder}", "part", "files", "first of them")
    table.columns[2].justify = "left"
    for kind, paths in found.files.items():
        table.add_row(kind, str(len(paths)), paths[0].relative_to(folder).as_posix())
    console().print(table)
    for kind in found.missing:
        console().print(f"missing: {kind}; looked for {LOOKED_FOR[kind]}")
    for name in found.lost:
        console().print(f"listed, but not there: {name}")
    if found.unknown:
        console().print(f"{found.unknown} other files")
