"""Where neither image nor white image tell the focus, the user is told what that may do to depth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cameras import moved_back, without_tilt

from plenodepth.camera import metric_from_virtual, preset, virtual_from_metric
from plenodepth.metric.focus import depth_error, moved_by, unchecked_focus
from plenodepth.raw.image import Devignetting, PitchCheck, RawImage

CAMERA = replace(without_tilt(preset("r12-e")), depth_scale=None)


def image(spread: PitchCheck | None) -> RawImage:
    gray = np.zeros((CAMERA.sensor.height, CAMERA.sensor.width), np.float32)
    return RawImage(gray, None, 0.01, Devignetting.NONE, spread=spread)


@pytest.mark.parametrize("moved", [-0.02, 0.02])
@pytest.mark.parametrize("z", [500.0, 900.0, 2000.0])
def test_depth_is_wrong_by_what_a_moved_lens_makes_it(z: float, moved: float) -> None:
    v = virtual_from_metric(z, CAMERA)
    wrong = float(metric_from_virtual(v, moved_back(CAMERA, moved)))
    assert depth_error(z, moved, CAMERA) == pytest.approx(abs(wrong / z - 1), rel=0.05)


@pytest.mark.parametrize("moved", [-0.5, 0.5])
def test_the_pitch_tells_how_far_the_lens_has_moved(moved: float) -> None:
    pitch = moved_back(CAMERA, moved).micro_images.lattice.diameter
    assert moved_by(pitch / CAMERA.micro_images.lattice.diameter - 1, CAMERA) == pytest.approx(moved, rel=0.03)


@pytest.mark.parametrize(("error", "z", "said"), [(3e-6, 900.0, False), (2e-5, 900.0, True), (3e-6, 5000.0, True)])
def test_it_is_said_where_the_pitch_is_known_too_badly_for_the_depth(error: float, z: float, said: bool) -> None:
    sentences = unchecked_focus(image(PitchCheck(0.0, error, 2500.0)), CAMERA, z)
    assert len(sentences) == said
    assert all(
        "refocused" in one and "% wrong; a white image taken with it would tell more" in one for one in sentences
    )


def test_how_wrong_depth_may_be_is_said() -> None:
    spread = PitchCheck(1e-6, 2e-5, 2500.0)
    (sentence,) = unchecked_focus(image(spread), CAMERA, 900.0)
    off = depth_error(900.0, moved_by(1e-4, CAMERA), CAMERA)
    assert 0.2 < off < 0.3
    assert f"up to {100 * off:.0f} % wrong" in sentence
    (with_white,) = unchecked_focus(image(spread._replace(source="white image")), CAMERA, 900.0)
    assert with_white.endswith("keep its focus locked")


def test_an_image_that_cannot_tell_says_so() -> None:
    (sentence,) = unchecked_focus(image(PitchCheck(0.0, np.inf, 300.0)), CAMERA, 900.0)
    assert "too few micro-images show" in sentence
    assert "0.1 mm that it was moved since makes depth 3 % wrong" in sentence


def test_nothing_is_said_twice_or_without_a_reason() -> None:
    assert unchecked_focus(image(None), CAMERA, 900.0) == []  # not asked
    assert unchecked_focus(image(PitchCheck(0.0, 1e-4, 2500.0)), CAMERA, None) == []  # no depth
    assert unchecked_focus(image(PitchCheck(9e-4, 1e-4, 2500.0)), CAMERA, 900.0) == []  # told as a problem
