"""`plenodepth render export`: views with depth as other software takes them over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from plenodepth.cli.shared.common import JsonOption, console, print_json
from plenodepth.errors import InputError


def export(
    result: Annotated[
        Path,
        typer.Argument(
            metavar="RESULT",
            help="Folder of rendered views (views.json), or NAME.dense.tiff of `plenodepth depth --dense`.",
            show_default=False,
        ),
    ],
    to: Annotated[
        Literal["opencv", "tum", "colmap", "nerfstudio", "ply", "glb"],
        typer.Option("--to", help="For which software.", show_default=False),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.", show_default=False)],
    camera: Annotated[str | None, typer.Option("--camera", help="Preset or camera file, for NAME.dense.tiff.")] = None,
    least_confidence: Annotated[float, typer.Option("--least-confidence", help="Leave out depths of less.")] = 0.0,
    filled: Annotated[
        bool, typer.Option("--filled/--no-filled", help="Keep depths that were taken from neighbours.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Write views with depth for other software: images, 16-bit and float depth, intrinsics, poses, clouds, meshes.

    opencv: PNG, TIFF, EXR and a YAML of intrinsics; tum: RGB-D folder, also for Open3D; colmap: sparse model and depth
    maps; nerfstudio: transforms.json; ply: cloud in mm; glb: mesh cut at depth edges.

    Example: [bold]plenodepth render export out/raw.dense.tiff --camera r12-es --to glb --out mesh[/bold]
    """
    from plenodepth.camera import load_plenoptic_camera
    from plenodepth.render.exports.export import export_views
    from plenodepth.render.view_files import load_dense, load_rendered

    if result.is_dir():
        if camera is not None:
            raise InputError("is for a dense view", field="--camera", fix="leave it out: views.json has the pinholes")
        views = load_rendered(result)
    elif camera is None:
        raise InputError("is missing", field="--camera", fix="give the camera of the dense view, or a folder of views")
    else:
        views = [load_dense(result, load_plenoptic_camera(camera))]
    export_views(views, out, to, least_confidence=least_confidence, filled=filled)
    if as_json:
        print_json({"views": [view.name for view in views], "format": to, "out": str(out)})
    else:
        console().print(f"{out}: {len(views)} view{'s' if len(views) > 1 else ''} for {to}")
