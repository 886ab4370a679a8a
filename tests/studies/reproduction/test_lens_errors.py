"""The contrast of a micro-image is the standard deviation of the pixels inside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from plenodepth.camera import preset
from plenodepth.camera.presets import shrunk
from plenodepth.io.images import write_image
from plenodepth.studies.reproduction.lens_errors import measure_contrast, micro_image_contrast
from plenodepth.studies.reproduction.study import Study

CAMERA = shrunk(preset("r12-a"), 6, 5)
SHAPE = CAMERA.sensor.height, CAMERA.sensor.width


def test_noise_of_known_size_is_found_in_every_micro_image() -> None:
    gray = np.random.default_rng(0).normal(0.5, 0.07, SHAPE).astype(np.float32)
    contrast = micro_image_contrast(gray, CAMERA.micro_images)
    lattice = CAMERA.micro_images.lattice
    assert contrast.shape == (lattice.rows, lattice.columns)
    found = contrast[np.isfinite(contrast)]
    assert len(found) > 20
    np.testing.assert_allclose(found, 0.07, rtol=0.2)
    assert micro_image_contrast(np.ones(SHAPE, np.float32), CAMERA.micro_images)[2, 2] == 0


def test_what_lies_between_micro_images_does_not_count() -> None:
    gray = np.full(SHAPE, 0.5, np.float32)
    k, l = 2, 2
    u, v = np.rint(CAMERA.micro_images.center(k, l)).astype(int)
    gray[v - 2 : v + 3, u - 2 : u + 3] = 0.9
    contrast = micro_image_contrast(gray, CAMERA.micro_images)
    assert contrast[l, k] > 0.05
    others = np.delete(contrast.ravel(), l * contrast.shape[1] + k)
    assert np.nanmax(others) == 0


def test_contrast_is_kept_until_a_study_asks_for_fresh_results(tmp_path: Path) -> None:
    for name in ("raw.png", "white.png"):
        write_image(np.full(SHAPE, 40000, np.uint16), tmp_path / name)
    files = tmp_path / "raw.png", tmp_path / "white.png"
    study = Study(tmp_path)
    kept = measure_contrast(study, "r12-a", *files, CAMERA)
    assert np.load(kept).shape == (CAMERA.micro_images.lattice.rows, CAMERA.micro_images.lattice.columns)
    made = kept.stat().st_mtime_ns
    assert measure_contrast(study, "r12-a", *files, CAMERA) == kept
    assert kept.stat().st_mtime_ns == made
    fresh = replace(study, since=kept.stat().st_mtime + 1e-3)
    assert measure_contrast(fresh, "r12-a", *files, CAMERA) == kept
    assert kept.stat().st_mtime_ns > made


def test_micro_images_with_few_usable_pixels_have_none() -> None:
    gray = np.ones(SHAPE, np.float32)
    u, v = np.rint(CAMERA.micro_images.center(3, 2)).astype(int)
    gray[v - 12 : v + 3, u - 12 : u + 13] = np.nan
    contrast = micro_image_contrast(gray, CAMERA.micro_images)
    assert np.isnan(contrast[2, 3])
    assert np.isfinite(contrast[2, 1])
