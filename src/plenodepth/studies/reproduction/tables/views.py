"""Table and check of the experiment `views`: the all-in-focus view against the truth, beside patch tiling."""

from __future__ import annotations

from plenodepth.studies.reproduction.results import Cell, ResultTable, ViewsResult
from plenodepth.studies.reproduction.tables.parts import TablesAndChecks, check_holds

COLUMNS = (
    "scene", "all in focus, PSNR [dB]", "tiled [dB]", "gain [dB]", "SSIM", "tiled", "MTF50 [cycles per px]", "tiled",
)  # fmt: skip
NOTE = (
    "PSNR and SSIM of sRGB, light as it comes, no gain fitted; MTF50 of slanted edges, where a scene has them. Tiled: "
    "one patch of each micro-image, as open converters do it."
)
LEAST_GAIN = 3.0  # dB


def views_tables(result: ViewsResult) -> TablesAndChecks:
    """Figures of every scene. Nothing of this is in the paper."""
    rows: list[tuple[Cell, ...]] = []
    gains = []
    for name, found in result.scenes.items():
        ours, tiled = found.all_in_focus, found.tiled
        gains.append(ours.psnr - tiled.psnr)
        rows.append((name, ours.psnr, tiled.psnr, gains[-1], ours.ssim, tiled.ssim, ours.mtf50, tiled.mtf50))
    what = f"the all-in-focus view is at least {LEAST_GAIN:g} dB nearer to the truth than tiling in every scene"
    checks = (check_holds(what, min(gains) >= LEAST_GAIN),)
    return TablesAndChecks((ResultTable("All in focus", COLUMNS, tuple(rows), NOTE),), checks)
