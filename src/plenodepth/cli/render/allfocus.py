"""`plenodepth render allfocus`: the picture in focus everywhere."""

from __future__ import annotations

from plenodepth.cli.render.frames import OutFolder, RawArgument, RenderOptions, depths_of, rendering, report
from plenodepth.cli.shared.common import JsonOption
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.raw_options import RawOptions
from plenodepth.io import require_writable


@expand_groups
def allfocus(
    *, image: RawArgument, raw: RawOptions, out: OutFolder, options: RenderOptions, as_json: JsonOption = False
) -> None:
    """Make a picture that is in focus everywhere, as a pinhole in place of the main lens sees it, with its depth.

    The folder holds NAME.png (sRGB), NAME.light.tiff (linear light), NAME.depth.tiff (mm), its σ and confidence,
    NAME.filled.png and views.json: what `plenodepth render export` takes.

    Example: [bold]plenodepth render allfocus raw.png --camera r12-e --white white.png --out sharp[/bold]
    """
    from plenodepth.render import all_in_focus, save_rendered
    from plenodepth.render.allfocus import require_scale

    require_scale(options.scale)
    require_writable(out)
    with rendering(options, quiet=as_json) as progress:
        depth = next(depths_of(image, raw, options, progress))
        view = all_in_focus(depth, scale=options.scale, sharpen=options.sharpen)
        save_rendered([view], out)
    height, width = view.depth.shape
    filled = float(view.filled.mean())
    line = f"{out}/{view.name}.png: {width} × {height} px, {100 * filled:.0f} % filled from neighbours"
    content = {"views": [view.name], "out": str(out), "size": [width, height], "filled_fraction": filled}
    report(line, content, depth.summary.note, as_json=as_json)
