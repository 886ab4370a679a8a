"""A map is judged as a whole, and told in words what is wrong with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_raws import MINI, textured_light, white_light

from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings import DepthSettings
from plenodepth.metric.quality import Quality, judged, textured_share, with_dense
from plenodepth.raw import clean_image
from plenodepth.raw.image import Devignetting, RawImage, RimCheck
from plenodepth.sim.sensor import SensorSettings, expose

SHAPE = (20, 24)


def a_map(depth: float = 6.0, confidence: float = 0.8, present: float = 1.0, note: str = "") -> VirtualDepthMap:
    v = np.full(SHAPE, depth, np.float32)
    v.ravel()[round(present * v.size) :] = np.nan
    sure = np.where(np.isfinite(v), np.float32(confidence), np.float32(0))
    return VirtualDepthMap(v, 0.1 * v, sure, v, np.ones(SHAPE, np.int16), False, aperture_note=note)


def scene() -> RawImage:
    return clean_image(expose(textured_light(4.0), SensorSettings()), MINI)


def gray(level: float, rims: RimCheck | None = None) -> RawImage:
    return RawImage(np.full((404, 560), level, np.float32), None, 0.001, Devignetting.NONE, rims=rims)


def test_a_good_map_is_not_doubted() -> None:
    found = judged(a_map(), scene(), MINI, DepthSettings())
    assert not found.doubtful
    assert (found.coverage, found.median_confidence, found.at_ends) == pytest.approx((1, 0.8, 0))


@pytest.mark.parametrize(
    ("depth_map", "image", "words"),
    [
        (a_map(present=0.1), scene, "only 10 % have a depth"),
        (a_map(confidence=0.2), scene, "median confidence is 0.20"),
        (a_map(confidence=0.0), scene, "only 0 % have a depth"),
        (a_map(depth=19.9), scene, "100 % of the depths lie at an end"),
        (a_map(confidence=0.1), scene, "check that the camera is the one that took the image"),
        (a_map(confidence=0.1), lambda: gray(0.5), "next to no texture"),
        (a_map(present=0.0), lambda: gray(np.nan), "saturated or without light"),
        (a_map(present=0.0), lambda: gray(0.0), "the image is dark"),
    ],
)
def test_what_is_wrong_is_said(depth_map: VirtualDepthMap, image, words: str) -> None:  # type: ignore[no-untyped-def]
    found = judged(depth_map, image(), MINI, DepthSettings())
    assert found.doubtful
    assert words in found.problem


def test_another_aperture_is_doubted_unless_it_is_wide_open() -> None:
    between, open_wide = (RimCheck(4.0, 1.7, 0.01, False, shown) for shown in (0.7, 1.0))
    doubt = a_map(note="the rims are too bright")
    assert "the rims are too bright" in judged(doubt, gray(0.5, between), MINI, DepthSettings()).problem
    assert not judged(doubt, gray(0.5, open_wide), MINI, DepthSettings()).doubtful


def test_a_white_image_has_no_texture_and_a_scene_has() -> None:
    white = clean_image(expose(white_light(4.0), SensorSettings()), MINI)
    assert textured_share(white, MINI) < 0.05
    assert textured_share(scene(), MINI) > 0.5


def test_a_dense_view_that_no_micro_image_confirms_is_doubtful() -> None:
    fine = Quality(0.9, 0.8, 0.0)
    assert with_dense(fine, 0.1) is fine
    doubtful = with_dense(fine, 0.35)
    assert doubtful.doubtful
    assert "no micro-image confirms 35 %" in doubtful.problem
    worse = replace(fine, finding="worse", cure="do better")
    assert with_dense(worse, 0.35).problem == "worse: do better"
