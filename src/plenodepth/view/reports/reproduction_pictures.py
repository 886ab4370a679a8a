"""The figures of each experiment of a reproduction, with their captions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from plenodepth.studies.reproduction.results import (
    AbsoluteResult,
    ConfidenceResult,
    DisparityResult,
    RelativeResult,
    ScaleResult,
    Values,
)
from plenodepth.view.figures.board_scale import scale_error_figure
from plenodepth.view.figures.confidence import confidence_figure
from plenodepth.view.figures.relative_depth import (
    END,
    depth_bias_figure,
    disparity_error_figure,
    displacement_error_figure,
    mean_error_figure,
    method_groups,
)
from plenodepth.view.figures.scene import QUALITY_END, Map, scene_figure
from plenodepth.view.reports.page import Picture, draw_picture

BIAS_OF = "r12-es"  # the dataset whose bias is drawn
PAPER_METHODS = ("B/C/S", "B/R/S")


def experiment_pictures(values: Values, out: Path) -> Iterator[Picture]:
    """The pictures of one experiment, if it has any. `out` is the folder that paths in its values refer to."""
    if isinstance(values, RelativeResult):
        yield from _relative(values)
    elif isinstance(values, ScaleResult):
        yield draw_picture(
            scale_error_figure(values.datasets),
            "scale-errors",
            "Scale errors of the boards before (open) and after (filled) the correction Γ against distance, as in the "
            "paper's figure 7; positive: found too small. Lines are least-squares fits. Below: what a linear and a "
            "quadratic Γ leave on R12-C, and what is left on all datasets.",
        )
    elif isinstance(values, AbsoluteResult):
        yield from _absolute(values, out)
    elif isinstance(values, ConfidenceResult):
        for dataset, found in values.datasets.items():
            yield draw_picture(
                confidence_figure(found.methods, dataset),
                f"confidence-{dataset}",
                f"{dataset.upper()}, all micro-images with a true depth. Left: mean error of what remains when the "
                "least sure are taken away, by confidence and by σ; the oracle knows the errors. Right: σ as predicted "
                "against the errors of micro-images of like σ, in tenths.",
            )
    elif isinstance(values, DisparityResult):
        yield draw_picture(
            disparity_error_figure(values),
            "disparity",
            "Relative depth error without Γ on R12-A with the corrected and with the usual formula of disparity; "
            "bands: standard deviation over the pairs.",
        )


def _relative(values: RelativeResult) -> Iterator[Picture]:
    named = ("relative-depth", "relative-depth-variants")
    labels = dict.fromkeys([*values.over_a_b_c, *values.others])
    for name, methods in zip(named, method_groups(labels), strict=False):
        yield draw_picture(
            displacement_error_figure(values.datasets, methods),
            name,
            f"Relative depth error against displacement ({'; '.join(methods)}), as in the paper's figure 8: mean over "
            f"the pairs of frames so far apart and, as a band, their standard deviation. Cut off at {END:g} %, as "
            "there; triangles mark means beyond.",
        )
    absent = "" if "RTRX" in values.others else " RTRX, the vendor's program, was not run here."
    yield draw_picture(
        mean_error_figure(values),
        "relative-depth-means",
        "Mean relative depth error over R12-A, B and C with the spread of the three (bars, lines), the datasets one by "
        f"one (signs), and the paper's figures of real images (red).{absent}",
    )
    if BIAS_OF in values.datasets:
        yield draw_picture(
            depth_bias_figure(values.datasets[BIAS_OF], BIAS_OF),
            "depth-against-truth",
            f"Median depth of each frame of {BIAS_OF.upper()} against its true distance: how much too far, in %.",
        )


def _absolute(values: AbsoluteResult, out: Path) -> Iterator[Picture]:
    for scene, names in values.pictures.items():
        maps = _read_maps(names, out)
        labels = [label for label in _shown_methods(values) if label in maps]
        if "truth" not in maps or not labels:
            continue
        found = values.scenes[scene]
        yield draw_picture(
            scene_figure(
                maps["truth"],
                {label: maps[label] for label in labels},
                {label: found[label].median for label in labels},
                scene,
            ),
            f"scene-{scene}",
            f"{scene}: central sub-aperture depth, true and found ({', '.join(labels)}); below, the pixels in common, "
            f"and the absolute difference there, 0 … {QUALITY_END:g} mm. Bottom left: share of these pixels that are "
            "off by no more than so much.",
        )


def _shown_methods(result: AbsoluteResult) -> list[str]:
    """The paper's coarse and refined variant, and the best of our aperture-aware ones."""
    means = result.means
    ours = [label for label in means if label.startswith("A/") and np.isfinite(means[label])]
    return [label for label in PAPER_METHODS if label in means] + sorted(ours, key=means.__getitem__)[:1]


def _read_maps(names: Mapping[str, str], out: Path) -> dict[str, Map]:
    """The depth maps of a scene, mm, by method or "truth", from their files; a map without a file is left out."""
    maps = {}
    for label, name in names.items():
        if (out / name).is_file():
            with np.load(out / name) as content:
                maps[label] = content["depth"]
    return maps
