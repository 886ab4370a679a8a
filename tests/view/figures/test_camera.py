"""The figure of a camera: blur above, precision below, both against distance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cameras import keplerian
from matplotlib.figure import Figure
from matplotlib.image import imread
from random_cameras import base

from plenodepth.camera import focus_planes, preset
from plenodepth.camera.summary import summarise
from plenodepth.errors import InputError
from plenodepth.view import camera_figure, save_figure


def figure_of(name: str) -> Figure:
    return camera_figure(summarise(base(name)))


def test_two_panels_share_the_axis_of_distance() -> None:
    blur, precision = figure_of("r12-e").axes
    assert blur.get_ylabel() == "blur radius ρ [px]"
    assert precision.get_ylabel() == "expected σ of depth [mm]"
    assert precision.get_xlabel() == "distance from the main lens [mm]"
    assert blur.get_xlim() == precision.get_xlim()
    assert precision.get_title() == "one pair of views, disparity good to 0.1 px"


def test_the_title_names_the_camera() -> None:
    assert figure_of("r12-e").get_suptitle() == "r12-e: F = 50.12 mm, f/4"


def test_there_is_one_curve_per_lens_type_and_it_crosses_zero_where_the_type_is_sharp() -> None:
    camera = base("r12-e")
    blur = figure_of("r12-e").axes[0]
    curves = [line for line in blur.lines if line.get_label().startswith("type ")]
    assert len(curves) == 3
    for curve, plane in zip(curves, focus_planes(camera), strict=True):
        assert curve.get_label().endswith(f"sharp at {plane:.0f} mm")
        depth, radius = curve.get_data()
        assert depth.min() < plane < depth.max()
        np.testing.assert_allclose(np.interp(plane, depth, radius), 0, atol=0.02)
    assert [text.get_text() for text in blur.get_legend().get_texts()] == [curve.get_label() for curve in curves]


def test_pinholes_have_precision_but_no_blur() -> None:
    blur, precision = figure_of("r12-a-pinhole").axes
    assert [text.get_text() for text in blur.texts] == ["pinholes: no blur"]
    assert len(blur.lines) == 0
    assert len(precision.lines) == 1


@pytest.mark.parametrize("camera", [preset("r12-b"), preset("upc-s"), keplerian()], ids=lambda camera: camera.name)
def test_every_kind_of_camera_has_finite_curves_and_ticks_to_read_them(camera: object) -> None:
    figure = camera_figure(summarise(camera))
    for axes in figure.axes:
        for line in axes.lines:
            assert np.isfinite(np.asarray(line.get_data(), dtype=float)).all()
    for axis in (figure.axes[1].xaxis, figure.axes[1].yaxis):
        low, high = sorted(axis.get_view_interval())
        assert 4 <= sum(low <= tick <= high for tick in axis.get_ticklocs()) <= 12


@pytest.mark.parametrize(("name", "magic"), [("f.png", b"\x89PNG"), ("f.PDF", b"%PDF"), ("f.svg", b"<?xml")])
def test_the_suffix_chooses_the_format(tmp_path: Path, name: str, magic: bytes) -> None:
    save_figure(figure_of("r12-mini"), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(magic)
    assert list(tmp_path.iterdir()) == [tmp_path / name]


def test_the_picture_is_large_enough_and_not_empty(tmp_path: Path) -> None:
    save_figure(figure_of("r12-e"), tmp_path / "f.png", dpi=100)
    image = imread(tmp_path / "f.png")
    assert image.shape == (700, 900, 4)
    for half in (image[:350], image[350:]):
        assert 0.005 < (half[..., :3].min(axis=-1) < 0.9).mean() < 0.5, "lines on a white ground"


@pytest.mark.parametrize("name", ["f.jpeg2", "f", "f.pgf", "f.txt"])
def test_other_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="which no figure can have"):
        save_figure(figure_of("r12-mini"), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_old_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no more ink")

    (tmp_path / "f.png").write_text("old")
    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(RuntimeError):
        save_figure(figure_of("r12-mini"), tmp_path / "f.png")
    assert (tmp_path / "f.png").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "f.png"]
