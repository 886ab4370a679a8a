"""Is this depth? A map judged as a whole, in words: what is wrong with it, and what to try.

Confidence is what a map knows about itself: how clear the minimum of each cost curve is, and how many neighbouring
views tell the same depth. Frames of real and simulated cameras that are what their camera file says have median
confidences of 0.4 to 0.9 and depth in most micro-images; with another camera, a wrong white image or no texture, they
fall to 0.0 to 0.25.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings import DepthSettings
from plenodepth.raw.image import RawImage
from plenodepth.raw.offsets import patches, sampled_micro_images

LEAST_COVERAGE = {False: 0.15, True: 0.04}  # coarse, refined: share of the map with a depth
LEAST_CONFIDENCE = 0.3  # median
MOST_AT_ENDS = 0.25  # of the depths lie within END of an end of the searched range, in parts of the range of 1/v
END = 0.04
LENSES_SAMPLED = 2000
LEAST_TEXTURED = 0.1  # of the micro-images
MOST_UNUSABLE = 0.5  # of the pixels, saturated or without light: a reason for what is wrong
TOO_MANY_UNUSABLE = 0.7  # of the pixels: discs of half a pitch, whose depths are 4 to 17 % off at any confidence
DARK = 0.01  # of full scale, or of the white image
ENOUGH = 1_000_000  # values for a quartile
WIDE_OPEN = 0.9  # light at the rims over that at the centres: of an aperture that shifts nothing
GUESSED_OPTICS = (
    "the camera is the start of a calibration, so its millimetres are a guess (virtual depth is not)",
    "calibrate it with boards, by plenodepth calibrate",
)
MOVED_FOCUS = {
    "image": "the main lens is at another focus, so mm are wrong; give the camera calibrated at this focus",
    "white image": "the main lens was at another focus when it was taken, so mm are wrong if the image was taken with "
    "it; give the camera calibrated at this focus, or a white image of the camera's focus",
}
OTHER_APERTURE = "depth may be many per cent off; give the camera file the f-number of the image, or check its numbers"


# Of the depths of a dense view. Right ones of simulated R12 and of a real R5: up to 11 %; a real TSPC, with wrong
# patches: 35 %.
MOST_UNCONFIRMED = 0.2
UNCONFIRMED = "take the map without --dense, or of the dense view only what NAME.dense.micro-images.png counts"


@dataclass(frozen=True)
class Quality:
    """How good a map is as a whole. `finding` is empty where nothing speaks against it."""

    coverage: float  # share of the map with a depth
    median_confidence: float  # of these; 0 without any
    at_ends: float  # share of the depths at an end of the searched range
    finding: str = ""  # what is wrong
    cure: str = ""  # and what to try

    @property
    def problem(self) -> str:
        """What is wrong, and what to try, in one line."""
        return f"{self.finding}: {self.cure}" if self.finding else ""

    @property
    def doubtful(self) -> bool:
        """Whether the map is not to be trusted."""
        return bool(self.finding)


def judged(
    depth_map: VirtualDepthMap, image: RawImage, camera: PlenopticCamera | GridCamera, settings: DepthSettings
) -> Quality:
    """Judge a map, before it is filtered, by how much of it there is, how confident it is, and where its depths lie."""
    v, confidence = thinned(depth_map.virtual_depth), thinned(depth_map.confidence)
    known = np.isfinite(v) & (confidence > 0)
    coverage = float(known.mean())
    median = float(np.median(confidence[known])) if known.any() else 0.0
    at_ends = _share_at_ends(v[known], settings.virtual_range)
    problems = list[str]()
    if coverage < LEAST_COVERAGE[depth_map.refined]:
        problems.append(f"only {100 * coverage:.0f} % have a depth")
    elif median < LEAST_CONFIDENCE:
        problems.append(f"the median confidence is {median:.2f}, where {LEAST_CONFIDENCE:g} is the least")
    if at_ends > MOST_AT_ENDS:
        low, high = settings.virtual_range
        problems.append(
            f"{100 * at_ends:.0f} % of the depths lie at an end of the searched range, |v| = {low:g} … {high:g}"
        )
    unusable = _unusable_share(image)
    if unusable > TOO_MANY_UNUSABLE and not problems:
        problems.append("too little of each micro-image is left to compare")
    if problems:
        advice = _advice(image, camera, at_ends, unusable)
        return Quality(coverage, median, at_ends, " and ".join(problems), advice)
    if image.spread is not None and image.spread.other_focus:
        return Quality(coverage, median, at_ends, f"{image.spread}", MOVED_FOCUS[image.spread.source])
    if isinstance(camera, PlenopticCamera) and camera.provenance.is_start:
        return Quality(coverage, median, at_ends, *GUESSED_OPTICS)
    rims = image.rims
    # An image of a wide aperture has nothing to be undone; one in between has, and by how much is not known.
    if depth_map.aperture_note and rims is not None and not rims.agrees and rims.shown < WIDE_OPEN:
        return Quality(coverage, median, at_ends, depth_map.aperture_note, OTHER_APERTURE)
    return Quality(coverage, median, at_ends)


def with_dense(quality: Quality, unconfirmed: float) -> Quality:
    """The quality where a dense view was made; `unconfirmed` is the share of its depths that no micro-image has."""
    if quality.doubtful or unconfirmed <= MOST_UNCONFIRMED:
        return quality
    found = f"no micro-image confirms {100 * unconfirmed:.0f} % of the depths of the dense view"
    return replace(quality, finding=found, cure=UNCONFIRMED)


def thinned(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Every n-th row and column of a map (h, w), so that at least `ENOUGH` values are left."""
    step = max(1, int(np.sqrt(values.size / ENOUGH)))
    return values[::step, ::step]


def _share_at_ends(v: NDArray[np.float32], searched: tuple[float, float]) -> float:
    """Share of virtual depths (n,) that lie close to an end of the searched range of |v|."""
    if not v.size:
        return 0.0
    inverse, far, near = 1 / np.abs(v), 1 / searched[1], 1 / searched[0]
    margin = END * (near - far)
    return float(((inverse > near - margin) | (inverse < far + margin)).mean())


def _unusable_share(image: RawImage) -> float:
    """Share of the pixels that are saturated or without light."""
    return float(np.isnan(image.gray[::4, ::4]).mean())


def _advice(image: RawImage, camera: PlenopticCamera | GridCamera, at_ends: float, unusable: float) -> str:
    """What most probably is the matter with the image, and what to do."""
    if unusable > MOST_UNUSABLE:
        share = f"{100 * unusable:.0f} % of the image is saturated or without light"
        return f"{share}; expose it otherwise, or open the aperture"
    level = float(np.nanmedian(image.gray[::4, ::4]))
    if level < DARK:
        return "the image is dark; expose it longer, or correct the black level"
    if textured_share(image, camera) < LEAST_TEXTURED:
        return "the image shows next to no texture, as a white image would; give an image of a scene"
    if at_ends > MOST_AT_ENDS:
        return "the scene lies outside the range, or the camera is another one; widen virtual_range in the settings"
    return (
        "views of neighbouring lenses do not show the same; check that the camera is the one that took the image, the "
        "white image, the colour pattern (--bayer), and that the raw image was neither sharpened, scaled nor compressed"
    )


def textured_share(image: RawImage, camera: PlenopticCamera | GridCamera) -> float:
    """Share of micro-images whose contrast is well above the noise and the unevenness of a white wall."""
    reach = 0.5 * camera.micro_images.radius
    k, l = sampled_micro_images(camera, LENSES_SAMPLED, reach)
    if not len(k):
        return 0.0
    values = np.asarray(patches(image.gray, camera.micro_images, k, l, reach)[0], np.float64)
    known = np.isfinite(values).all(axis=1)
    if not known.any():
        return 0.0
    mean, spread = values[known].mean(axis=1), values[known].std(axis=1)
    noise = image.noise if np.isfinite(image.noise) else 0.0
    return float((spread > np.maximum(2 * noise, 0.03 * np.abs(mean))).mean())
