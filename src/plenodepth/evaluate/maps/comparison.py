"""Two depth maps compared, and the figures of it for JSON: what several `evaluate` commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from plenodepth.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from plenodepth.evaluate.maps.differences import DepthDifferences

    Float32 = NDArray[np.float32]


def differences_of_files(
    prediction: Path,
    found: Float32,
    truth: Path,
    true: Float32,
    bad_percent: tuple[float, ...],
    mask: NDArray[np.bool_] | None = None,
) -> DepthDifferences:
    """The differences of two maps (h, w), mm; an error names the file of the map that it is about."""
    from plenodepth.evaluate.maps.differences import depth_differences

    try:
        return depth_differences(found, true, mask=mask, bad_parts=[part / 100 for part in bad_percent])
    except InputError as error:
        file = {"reading": prediction, "reference": truth}.get(error.field or "")
        raise InputError(error.message, file=file, field=None if file else error.field, fix=error.fix) from None


def differences_content(result: DepthDifferences) -> dict[str, Any]:
    """The figures of a comparison of maps, and those of its tiles, for JSON."""
    from plenodepth.evaluate.maps.tiles import tile_errors

    return {
        "pixels": result.common,
        "completeness": result.completeness,
        "median_ad_mm": result.median,
        "q25_ad_mm": result.q25,
        "q75_ad_mm": result.q75,
        "mean_ad_mm": result.mean,
        "rmse_mm": result.rmse,
        "bias_mm": result.bias,
        "bad_percent": {
            **{f"{100 * part:g}%": share for part, share in result.bad_parts.items()},
            **{f"{limit:g}mm": share for limit, share in result.bad_mm.items()},
        },
        "tiles": [
            {
                "tile": tile.name,
                "pixels": tile.count,
                "median_ad_mm": tile.median,
                "mean_ad_mm": tile.mean,
                "bias_mm": tile.bias,
            }
            for tile in tile_errors(result.signed)
        ],
    }
