"""Refocused pictures are sharp where they should be, and blur as discs of the aperture do."""

from __future__ import annotations

import numpy as np
import pytest
from rendered import FAR, NEAR, camera, depth_of_scene

from plenodepth import all_in_focus, refocused
from plenodepth.errors import InputError
from plenodepth.render import RenderedView
from plenodepth.render.refocus import blurred_by_depth, layer_edges


def sharpness(view: RenderedView, rows: slice, columns: slice) -> float:
    light = view.light[rows, columns].mean(axis=2)
    return float(np.mean(np.square(np.diff(light, axis=0))) + np.mean(np.square(np.diff(light, axis=1))))


def test_sharpness_peaks_at_the_chosen_depth() -> None:
    sharp = all_in_focus(depth_of_scene())
    for depth, where in ((NEAR, (slice(150, 210), slice(200, 260))), (FAR, (slice(20, 80), slice(20, 440)))):
        steps = depth * np.array([0.9, 0.94, 0.96, 0.98, 1.0, 1.02, 1.04, 1.06, 1.1])
        found = [sharpness(view, *where) for view in refocused(sharp, camera(), steps.tolist(), aperture=6.0)]
        best = steps[int(np.argmax(found))]
        assert abs(best / depth - 1) <= 0.02
        assert found[0] < 0.9 * max(found) > found[-1]


def test_no_aperture_leaves_all_sharp() -> None:
    sharp = all_in_focus(depth_of_scene())
    (same,) = refocused(sharp, camera(), [NEAR], aperture=0.0)
    np.testing.assert_allclose(same.light, sharp.light, atol=1e-5)
    assert same.name == "raw-800mm"


def test_one_depth_blurs_as_a_disc_does() -> None:
    rng = np.random.default_rng(0)
    light = rng.uniform(0, 1, (60, 70, 3)).astype(np.float32)
    for radius in (3.0, -4.6):
        blur = np.full(light.shape[:2], radius, np.float32)
        edges = layer_edges(radius, radius)
        used = abs(edges[0] + edges[1]) / 2
        assert abs(used - abs(radius)) <= 0.5
        out = blurred_by_depth(light, blur)
        reach = int(used) + 2
        offset = np.arange(-reach, reach + 1)
        disc = np.clip(used + 0.5 - np.hypot(offset[:, None], offset), 0, 1)
        disc /= disc.sum()
        for row, column in ((30, 30), (20, 45)):
            window = light[row - reach : row + reach + 1, column - reach : column + reach + 1]
            np.testing.assert_allclose(out[row, column], np.einsum("ij,ijc->c", disc, window), atol=1e-4)


def test_a_blurred_background_does_not_shine_through_a_sharp_foreground() -> None:
    light = np.full((80, 80, 1), 0.2, np.float32)
    light[30:50, 30:50] = 1.0
    blur = np.full((80, 80), 5.0, np.float32)  # the background
    blur[30:50, 30:50] = 0.0
    out = blurred_by_depth(light, blur)
    np.testing.assert_allclose(out[32:48, 32:48], 1.0, atol=1e-4)
    np.testing.assert_allclose(out[:29], 0.2, atol=1e-3)  # nor the foreground into it
    other = blurred_by_depth(light, -blur[..., :] + 5.0)  # background sharp, foreground ahead of it blurred
    assert np.isfinite(other).all()
    blur = np.where(blur == 0, np.float32(-5.0), np.float32(0.0))
    soft = blurred_by_depth(light, blur)
    assert 0.3 < soft[40, 30, 0] < 0.9, "the blurred outline lets the background through"
    assert soft[40, 27, 0] > 0.25


def test_the_same_bytes_for_any_number_of_threads() -> None:
    sharp = all_in_focus(depth_of_scene(), scale=4.0)
    one, two = (next(refocused(sharp, camera(), [700.0], aperture=4.0, threads=threads)) for threads in (1, 2))
    assert one.light.tobytes() == two.light.tobytes()


def test_depths_and_apertures_that_cannot_be() -> None:
    sharp = all_in_focus(depth_of_scene(), scale=4.0)
    with pytest.raises(InputError, match="at: is -5"):
        refocused(sharp, camera(), [-5.0])
    with pytest.raises(InputError, match="aperture: is -1"):
        refocused(sharp, camera(), [900.0], aperture=-1.0)
