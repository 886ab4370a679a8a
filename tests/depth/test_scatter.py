"""σ is true where depths meet, too, and wherever there is a depth there is one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matching import CAMERAS, random_image
from planes import plane_image, small_camera

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.camera.micro_images import owner_map
from plenodepth.depth import estimate
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.scatter import INTERPOLATION_ERROR, shared_error
from plenodepth.depth.settings import DepthSettings
from plenodepth.metric import metric_depth_map
from plenodepth.raw.image import RawImage

NEAR, FAR, BORDER = 700.0, 1400.0, 280  # mm; column where the far wall begins


def within(settings: DepthSettings, camera: PlenopticCamera, image: RawImage) -> tuple[float, float]:
    """Shares of the errors that are within 1 σ and 2 σ, of two walls side by side."""
    found = metric_depth_map(estimate_virtual_depth(image, camera, settings), camera)
    height, width = image.gray.shape
    if settings.refined:
        column = np.broadcast_to(np.arange(width), (height, width))
        column = np.where(owner_map(camera.micro_images, height, width) >= 0, column, -1)
    else:
        column = camera.micro_images.center(*camera.micro_images.lattice.indices())[..., 0]
    error = np.abs(found.depth - np.where(column < BORDER, NEAR, FAR))[np.isfinite(found.depth)]
    sigma = found.sigma[np.isfinite(found.depth)]
    assert len(error) > 0.3 * found.depth.size
    return float((error < sigma).mean()), float((error < 2 * sigma).mean())


@pytest.mark.parametrize("settings", [DepthSettings(), DepthSettings(refined=True)], ids=["coarse", "refined"])
def test_where_depths_meet_sigma_is_true_and_that_of_the_match_is_not(
    monkeypatch: pytest.MonkeyPatch, settings: DepthSettings
) -> None:
    near, far = plane_image(NEAR), plane_image(FAR)
    gray = np.where(np.arange(near.gray.shape[1]) < BORDER, near.gray, far.gray)
    image = replace(near, gray=gray)
    one, two = within(settings, small_camera(), image)
    monkeypatch.setattr(estimate, "widen_sigma", lambda *_: None)
    _, two_of_match = within(settings, small_camera(), image)
    assert 0.6 < one < 0.85
    assert two > 0.93
    assert two_of_match < two - 0.02


@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
@pytest.mark.parametrize("name", ["r12-c", "keplerian", "grid"])
def test_there_is_a_sigma_wherever_there_is_a_depth(name: str, refined: bool) -> None:
    found = estimate_virtual_depth(random_image(CAMERAS[name], 3), CAMERAS[name], DepthSettings(refined=refined))
    assert np.isfinite(found.virtual_depth).sum() > 30
    np.testing.assert_array_equal(np.isfinite(found.sigma), np.isfinite(found.virtual_depth))
    assert (found.sigma[np.isfinite(found.sigma)] > 0).all()


def test_the_plain_kernels_give_the_same_sigma() -> None:
    camera = CAMERAS["r12-a"]
    image, settings = random_image(camera, 4, missing=0), DepthSettings(hypotheses=14, far_reach=2.0)
    fast, slow = (
        estimate_virtual_depth(image, camera, replace(settings, kernel=kernel))  # type: ignore[arg-type]
        for kernel in ("cpu", "reference")
    )
    there = np.isfinite(fast.virtual_depth)
    assert there.sum() > 30
    np.testing.assert_allclose(fast.sigma[there], slow.sigma[there], rtol=0.02)


def test_a_smaller_aperture_leaves_a_larger_error_that_all_share() -> None:
    camera = preset("r12-es")
    at = [replace(camera, main_lens=replace(camera.main_lens, f_number=number)) for number in (2.8, 4.0, 5.6)]
    errors = [shared_error(one, "per_pixel") for one in at]
    assert errors[0] < 0.6 * errors[1] < 0.36 * errors[2]
    assert errors[1] == pytest.approx(0.026, abs=0.002)
    assert {shared_error(one, "off") for one in at} == {INTERPOLATION_ERROR}
    assert shared_error(CAMERAS["grid"], "off") == INTERPOLATION_ERROR
