"""Two depth maps of one view, pixel by pixel: a reading against a reference; NaN is missing in both.

All figures are over the common mask, the pixels where both have a depth. What is lost there is `completeness`, so the
two belong together: a map that leaves out what is hard has small differences.

Where the authors' program differs from the names it prints: its quartiles and median (those of the paper's table) are
order statistics over the *non-zero* absolute differences, without interpolation; its "MSE" is the root, an RMSE; its
"BadPix" is the sum of the differences above 10 mm over the number of masked pixels, so millimetres and no percentage;
its mask is both > 1 mm. It has no completeness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.errors import InputError
from plenodepth.evaluate.maps.tiles import tile_errors

BAD_PARTS = (0.01, 0.02, 0.05)  # of the true depth
BAD_MM = (10.0,)  # the authors' threshold


@dataclass(frozen=True, eq=False)
class DepthDifferences:
    """A reading against a reference. AD is |reading − reference| over the common mask, mm."""

    signed: NDArray[np.floating[Any]]  # (h, w) reading − reference, mm: > 0 is too far; NaN off the common mask
    q25: float  # quartiles of AD
    median: float
    q75: float
    mean: float  # of AD
    rmse: float
    bias: float  # median of the signed differences
    bad_parts: Mapping[float, float]  # threshold in parts of the true depth → per cent of the common mask with more
    bad_mm: Mapping[float, float]  # threshold in mm → per cent of the common mask with more
    common: int  # pixels where both have a depth
    reference: int  # pixels where the reference has one

    @property
    def completeness(self) -> float:
        """Share of the reference's pixels that have a reading, 0 … 1."""
        return self.common / self.reference

    def content(self, *, tiles: bool = True) -> dict[str, Any]:
        """The figures for JSON, and those of tiles of the map."""
        bad = {
            **{f"{100 * part:g}%": share for part, share in self.bad_parts.items()},
            **{f"{limit:g}mm": share for limit, share in self.bad_mm.items()},
        }
        figures: dict[str, Any] = {
            "pixels": self.common,
            "completeness": self.completeness,
            "median_ad_mm": self.median,
            "q25_ad_mm": self.q25,
            "q75_ad_mm": self.q75,
            "mean_ad_mm": self.mean,
            "rmse_mm": self.rmse,
            "bias_mm": self.bias,
            "bad_percent": bad,
        }
        if tiles:
            figures["tiles"] = [tile.content() for tile in tile_errors(self.signed)]
        return figures


def depth_differences(
    reading: ArrayLike,
    reference: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    bad_parts: Sequence[float] = BAD_PARTS,
    bad_mm: Sequence[float] = BAD_MM,
) -> DepthDifferences:
    """Figures of a reading (h, w) against a reference (h, w), mm; arrays of any equal shape do.

    `mask` (h, w): False leaves a pixel out of everything, completeness too. A pixel is bad where its AD is above the
    threshold, in parts of the reference's depth or in mm.

    >>> import numpy as np
    >>> found = plenodepth.depth_differences([[901.0, 898.0], [950.0, np.nan]], np.full((2, 2), 900.0))
    >>> found.median, found.completeness
    (2.0, 0.75)
    """
    found, true = checked_depth(reading, "reading"), checked_depth(reference, "reference")
    _require_thresholds(bad_parts, "bad_parts")
    _require_thresholds(bad_mm, "bad_mm")
    signed = signed_differences(found, true, mask=mask)
    wanted = np.isfinite(true)
    if mask is not None:
        wanted &= np.asarray(mask, dtype=bool)
    common = np.isfinite(signed)
    if not wanted.any():
        raise InputError("has no depth at all" + _inside(mask), field="reference", fix="missing depth is NaN")
    if not common.any():
        raise InputError(
            "has no depth where the reference has one" + _inside(mask),
            field="reading",
            fix="check that both maps show the same view and are in mm",
        )
    differences, depth = signed[common], true[common]
    size = np.abs(differences)
    q25, median, q75 = np.quantile(size, (0.25, 0.5, 0.75)).tolist()
    return DepthDifferences(
        signed=signed,
        q25=q25,
        median=median,
        q75=q75,
        mean=float(size.mean(dtype=np.float64)),
        rmse=float(np.sqrt(np.square(size).mean(dtype=np.float64))),
        bias=float(np.median(differences)),
        bad_parts={part: _per_cent(size > part * depth) for part in bad_parts},
        bad_mm={limit: _per_cent(size > limit) for limit in bad_mm},
        common=int(np.count_nonzero(common)),
        reference=int(np.count_nonzero(wanted)),
    )


def signed_differences(
    reading: ArrayLike, reference: ArrayLike, *, mask: ArrayLike | None = None
) -> NDArray[np.floating[Any]]:
    """The map reading − reference (h, w), mm, for pictures; NaN where either is missing or `mask` is False.

    float32 of float32 maps: next to each other, depths subtract exactly.
    """
    found, true = _as_float(reading), _as_float(reference)
    if found.shape != true.shape:
        raise InputError(
            f"has shape {found.shape}, the reference {true.shape}", field="reading", fix="one view, one size"
        )
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        signed = found - true
    signed[~np.isfinite(signed)] = np.nan
    if mask is not None:
        wanted = np.asarray(mask, dtype=bool)
        if wanted.shape != signed.shape:
            raise InputError(f"has shape {wanted.shape}, the maps {signed.shape}", field="mask")
        signed[~wanted] = np.nan
    return signed


def checked_depth(depth: ArrayLike, field: str) -> NDArray[np.floating[Any]]:
    """Depths as floats, mm; refuses 0 and less, which is how other programs write missing depth."""
    values = _as_float(depth)
    with np.errstate(invalid="ignore"):
        wrong = np.count_nonzero(values <= 0)
    if wrong:
        raise InputError(f"holds {wrong} depths of 0 mm or less", field=field, fix="missing depth is NaN")
    return values


def _as_float(values: ArrayLike) -> NDArray[np.floating[Any]]:
    array = np.asarray(values)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _require_thresholds(thresholds: Sequence[float], field: str) -> None:
    for value in thresholds:
        if not (np.isfinite(value) and value >= 0):
            raise InputError(f"holds {value:g}, needs numbers ≥ 0", field=field)


def _per_cent(bad: NDArray[np.bool_]) -> float:
    return 100.0 * float(np.count_nonzero(bad)) / bad.size


def _inside(mask: ArrayLike | None) -> str:
    return "" if mask is None else " inside the mask"
