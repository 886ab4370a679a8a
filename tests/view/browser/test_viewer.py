"""The viewer without a page: what its controls do to what it would show."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from shown_results import real_result, small_camera, write_relief, write_result

pytest.importorskip("viser", reason="no viser: pip install plenodepth[view]")

import plenodepth
from plenodepth.view.browser.frames import open_frames
from plenodepth.view.browser.instrument import Instrument
from plenodepth.view.browser.server import LOOPBACK, served
from plenodepth.view.browser.viewer import RAW, VIEW, Viewer

PATIENCE = 30.0  # s
Open = Callable[..., Viewer]


@pytest.fixture
def view() -> Iterator[Open]:
    """`view(folder)` opens the frames of a folder."""
    with served(LOOPBACK, 0, "test") as server:
        opened: list[Viewer] = []

        def open_viewer(folder: Path, **options: object) -> Viewer:
            opened.append(Viewer(server, open_frames(folder), **options))  # type: ignore[arg-type]
            return opened[-1]

        yield open_viewer
        for viewer in opened:
            viewer.__exit__()


def wait_until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


def said(viewer: Viewer) -> str:
    return str(viewer.controls._said.content)


def test_the_time_slider_goes_through_the_frames(view: Open, tmp_path: Path) -> None:
    for number in range(3):
        write_result(tmp_path, f"frame{number}", seed=number)
    viewer = view(tmp_path, instrument=Instrument(plenodepth.preset("r12-mini")))
    first, drawn = viewer.cloud.points.copy(), viewer._camera
    assert len(drawn) == 2, "the frustum and the lenses"
    viewer.controls._time.value = 2
    wait_until(lambda: "**frame2**" in said(viewer))
    assert viewer.frame.name == "frame2"
    assert len(viewer._camera) == 2
    assert viewer._camera is not drawn
    assert not np.array_equal(viewer.part.points[:, :2], first[:, :2])


def test_a_frame_that_cannot_be_read_says_so_and_the_others_still_come(view: Open, tmp_path: Path) -> None:
    for number in range(3):
        write_result(tmp_path, f"frame{number}")
    os.truncate(tmp_path / "frame1.ply", 2000)
    viewer = view(tmp_path)
    viewer.controls._time.value = 1
    wait_until(lambda: "the file is truncated" in said(viewer))
    assert viewer.frame.name == "frame0"
    viewer.controls._time.value = 2
    wait_until(lambda: "**frame2**" in said(viewer))


def test_limits_leave_points_out(view: Open, tmp_path: Path) -> None:
    viewer = view(write_result(tmp_path))
    viewer.controls._confidence.value = 0.75
    wait_until(lambda: "1,000 of 4,000" in said(viewer))
    assert len(viewer.part) == 1000
    viewer.controls._range.value = (700.0, viewer.controls._range.max)
    wait_until(lambda: "500 of 4,000" in said(viewer))
    assert (viewer.part.depth == 900).all()


def test_a_relief_says_that_it_has_no_millimetres(view: Open, tmp_path: Path) -> None:
    viewer = view(write_relief(tmp_path))
    assert "no millimetres" in said(viewer)
    x, y, z = (viewer.scene_from_points(viewer.part.points)[600] * [1, 1, 1]).tolist()
    eye = np.array([x, y, 0.0])
    viewer._clicked(tuple(eye), (0.0, 0.0, 1.0))
    wait_until(lambda: "confidence" in str(viewer.picked._text.content))
    assert f"| v of the relief | {viewer.part.depth[600]:.3f} ± 0.050 |" in str(viewer.picked._text.content)
    viewer._clicked(tuple(eye), (0.0, 0.0, z))
    assert "no millimetres" in str(viewer.picked._distance.content)


def test_a_picture_takes_the_place_of_the_cloud_and_gives_it_back(view: Open) -> None:
    files = real_result()
    image = plenodepth.load_raw(files.raw, small_camera(), white=files.white)
    viewer = view(files.folder, instrument=Instrument(small_camera(), lambda _: image))
    viewer.controls._show.value = RAW
    wait_until(lambda: viewer.pane.size == (small_camera().sensor.width, small_camera().sensor.height))
    wait_until(lambda: not viewer.points.visible)
    viewer._clicked((0.0, 0.0, 0.5), (0.0, 0.0, 1.0))
    probe = viewer.picked._last[-1].probe
    assert probe is not None
    middle = ((small_camera().sensor.width - 1) / 2, (small_camera().sensor.height - 1) / 2)
    assert probe.pixel == pytest.approx(middle, abs=0.01)
    wait_until(lambda: "**B** v = " in str(viewer.picked._said.content))
    viewer.controls._show.value = VIEW
    wait_until(lambda: viewer.pane.size != (small_camera().sensor.width, small_camera().sensor.height))
    viewer.controls._show.value = "cloud"
    wait_until(lambda: not viewer.pane.shown and viewer.points.visible)


def test_a_click_beside_everything_changes_nothing(view: Open, tmp_path: Path) -> None:
    viewer = view(write_result(tmp_path))
    viewer._clicked((0.0, 0.0, 0.0), (0.0, 0.0, -1.0))
    assert viewer.picked._last == []


def test_a_page_gets_few_points_at_first(view: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plenodepth.view.browser.viewer.FIRST_PICTURE", 500)
    viewer = view(write_result(tmp_path))
    assert len(viewer.part) <= 500
    assert "are drawn: one in" in said(viewer)
