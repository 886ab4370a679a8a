"""The methods that are compared: which cues, which camera, which correction of the scale."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from plenodepth.depth.settings import DepthSettings

CameraModel = Literal["blur_aware", "pinhole"]
Scaling = Literal["none", "linear", "quadratic", "best"]  # best: the order that cross-validation names


@dataclass(frozen=True)
class Method:
    """A way from a raw image to metric depth."""

    label: str
    settings: DepthSettings
    camera: CameraModel = "blur_aware"
    scaling: Scaling = "none"
    scaled_as: DepthSettings | None = None  # Γ is that of maps with these settings; None: of its own
    dense: bool = False  # the pixels of the raw image see what the dense view does


# The paper's settings leave the aperture to Γ. Searches are sweeps: the published golden section takes wrong minima.
BLUR = DepthSettings(aperture_model="off")
DISPARITY = DepthSettings(aperture_model="off", blur=False)
AWARE = DepthSettings(aperture_model="per_pixel")
# A classic block matcher: views of the same lens type alone, all of them alike, no blur.
SAME_TYPE = DepthSettings(
    aperture_model="off", blur=False, first_hypothesis="same_type", reach=1.8, far_reach=1.8, weights="constant"
)
GOLDEN = DepthSettings(aperture_model="off", search="golden")

BLADE = Method("BLADE", BLUR, scaling="quadratic")
BLADE_U = Method("BLADEu", BLUR)
DISP = Method("DISP", DISPARITY, camera="pinhole")
AWARE_U = Method("aware", AWARE)
AWARE_S = Method("aware + Γ", AWARE, scaling="best")
BLOCKS = Method("same-type blocks", SAME_TYPE, scaling="quadratic")
GOLDEN_S = Method("golden section", GOLDEN, scaling="quadratic")
LINEAR = Method("BLADE, linear Γ", BLUR, scaling="linear")

QUICK_METHODS = (BLADE, BLADE_U, DISP, AWARE_U, AWARE_S)
RELATIVE_METHODS = (*QUICK_METHODS, LINEAR, GOLDEN_S, BLOCKS)


def table_methods() -> tuple[Method, ...]:
    """The paper's eight of its table 2, in its order, and ours: the aperture undone, with and without Γ, and dense."""
    methods = []
    scalings: tuple[tuple[Scaling, str], ...] = (("quadratic", "S"), ("none", "U"))
    for scaling, letter in scalings:
        for refined, size in ((False, "C"), (True, "R")):
            for settings, cue in ((BLUR, "B"), (DISPARITY, "D")):
                chosen = replace(settings, refined=refined)
                # The paper's D has the same camera as B, Γ included, but for its lenses' focal lengths.
                methods.append(Method(f"{cue}/{size}/{letter}", chosen, scaling=scaling, scaled_as=BLUR))
    for refined, size in ((False, "C"), (True, "R")):
        aware = replace(AWARE, refined=refined)
        methods.append(Method(f"A/{size}/U", aware))
        methods.append(Method(f"A/{size}/S", aware, scaling="best"))
    view = replace(AWARE, refined=True)
    methods.append(Method("A/V/U", view, dense=True))
    methods.append(Method("A/V/S", view, scaling="best", scaled_as=AWARE, dense=True))
    return tuple(methods)
