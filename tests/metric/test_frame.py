"""One frame as a whole: what is recorded of it, and its files, which are all there or none is."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from planes import plane_image, small_camera

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.depth.device import chosen_device
from plenodepth.depth.filters import FilterSettings
from plenodepth.depth.kernels.cuda.device import gpu_problem
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.settings_file import SettingsFile, load_settings
from plenodepth.errors import InputError
from plenodepth.io import atomic_files, read_float_map, read_ply
from plenodepth.metric import metric_depth_map
from plenodepth.metric.frame import estimate_depth
from plenodepth.metric.quality import Quality
from plenodepth.metric.result import DepthResult, DepthSummary, load_virtual_map
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.threads import thread_count
from plenodepth.timing import StageClock
from plenodepth.version import __version__

resource = pytest.importorskip("resource", reason="this system has no module resource, which limits the size of files")

ENDS = ("confidence.tiff", "csad.tiff", "depth.tiff", "json", "ply", "png", "sigma.tiff")
SUMMARY = DepthSummary(
    "0",
    "plane",
    "mini",
    "nothing",
    "cpu",
    1,
    StageClock(),
    "off",
    False,
    None,
    None,
    1.0,
    *[None] * 8,
    (),
    None,
    Quality(1.0, 1.0, 0.0),
    SettingsFile(),
)


@pytest.fixture(scope="module")
def frame(camera: PlenopticCamera, as_map, plane_truth) -> DepthResult:
    """The truth of a plane, as if it had been estimated."""
    virtual: VirtualDepthMap = as_map(plane_truth.virtual_depth, refined=True)
    gray = np.full(virtual.virtual_depth.shape, 0.5, np.float32)
    image = RawImage(gray, None, 0.01, Devignetting.NONE, "plane")
    return DepthResult(image, camera, virtual, metric_depth_map(virtual, camera), SUMMARY)


def as_grid(frame: DepthResult) -> DepthResult:
    """The same of a camera that is known by its lens grid only."""
    height, width = frame.virtual.virtual_depth.shape
    grid = GridCamera("grid", width, height, frame.camera.micro_images, np.array([[2, 4], [3, 6], [5, 20]]))
    return replace(frame, camera=grid, metric=None)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """The system takes no more than `size` bytes for a file, as a disk that is full in the middle of it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


# --- the record -------------------------------------------------------------------------------------------------


def test_the_record_tells_how_and_how_well(camera: PlenopticCamera, plane_truth, monkeypatch, as_map, tmp_path) -> None:
    virtual: VirtualDepthMap = as_map(plane_truth.lens_virtual_depth, refined=False)
    monkeypatch.setattr("plenodepth.metric.frame.estimate_virtual_depth", lambda *_, **__: virtual)
    gray = np.full((camera.sensor.height, camera.sensor.width), 0.5, np.float32)
    image = RawImage(gray, None, 0.01, Devignetting.NONE, "plane")
    settings, filters = DepthSettings(window=7), FilterSettings(near=0.0, far=np.inf)
    frame = estimate_depth(image, camera, settings, filters, threads=3)
    summary = frame.summary.content()
    metric = metric_depth_map(virtual, camera)
    assert list(summary) == [
        "plenodepth", "image", "camera", "devignetting", "device", "threads", "seconds", "cpu_seconds", "stages",
        "aperture_model", "depth_scale_applied", "blur_coefficient", "blur_coefficient_from",
        "valid_fraction", "median_virtual_depth", "q25_virtual_depth", "q75_virtual_depth",
        "median_sigma_virtual_depth", "median_z_mm", "q25_z_mm", "q75_z_mm", "median_sigma_z_mm",
        "median_confidence", "doubtful", "share_at_ends_of_range", "settings",
    ]  # fmt: skip
    assert summary["plenodepth"] == __version__
    assert (summary["image"], summary["camera"], summary["devignetting"]) == ("plane", camera.name, "nothing")
    assert (summary["device"], summary["threads"]) == ("cpu", 3)
    assert summary["valid_fraction"] == virtual.valid_fraction
    assert summary["median_sigma_virtual_depth"] == pytest.approx(0.05)
    assert summary["median_z_mm"] == pytest.approx(float(np.nanmedian(metric.depth)))
    assert summary["q25_z_mm"] < summary["median_z_mm"] < summary["q75_z_mm"]
    assert summary["median_sigma_z_mm"] == pytest.approx(float(np.nanmedian(metric.sigma)))
    assert summary["median_confidence"] == pytest.approx(0.8)
    assert list(summary["stages"]) == ["search", "filter", "metric", "summary"]
    frame.save(tmp_path)
    written = json.loads((tmp_path / "plane.json").read_text())
    times = ("seconds", "cpu_seconds", "stages")
    assert {name: value for name, value in written.items() if name not in times} == {
        name: value for name, value in summary.items() if name not in times
    }
    assert list(written["stages"]) == [*summary["stages"], "cloud", "central view", "write"]
    for kind in ("seconds", "cpu_seconds"):
        assert written[kind] == pytest.approx(sum(stage[kind] for stage in written["stages"].values()), abs=0.01)
    assert written["stages"]["write"]["seconds"] > 0
    assert load_settings(tmp_path / "plane.json") == SettingsFile(settings, filters)


def test_a_frame_without_depth_has_a_record_too(camera: PlenopticCamera, monkeypatch, as_map, tmp_path) -> None:
    nothing = as_map(np.full((20, 24), np.nan), refined=False)
    monkeypatch.setattr("plenodepth.metric.frame.estimate_virtual_depth", lambda *_, **__: nothing)
    gray = np.zeros((camera.sensor.height, camera.sensor.width), np.float32)
    summary = estimate_depth(RawImage(gray, None, 0.01, Devignetting.NONE, "dark"), camera).summary.content()
    empty = [name for name in summary if name.startswith(("median", "q25", "q75"))]
    assert {summary[name] for name in empty} == {None}
    assert summary["valid_fraction"] == 0
    assert summary["threads"] == os.cpu_count()


def test_the_record_keeps_all_notes() -> None:
    image, plain = plane_image(1000.0), small_camera()
    unknown = replace(plain, main_lens=replace(plain.main_lens, f_number=None))
    scaled = replace(unknown, depth_scale=np.array([0.0, 0.5, 0.0]))
    assert "note" not in estimate_depth(image, plain).summary.content()
    summary = estimate_depth(image, scaled).summary.content()
    assert summary["note"] == "the camera file has no f-number: the aperture's effect on depth is not undone"
    assert summary["depth_scale_applied"]
    summary = estimate_depth(image, replace(scaled, depth_scale_model="per_pixel")).summary.content()
    assert summary["note"] == (
        "the camera file has no f-number: the aperture's effect on depth is not undone; "
        "the camera's depth scale Γ was found with aperture model per_pixel, which this image does not allow; depths "
        "are without it"
    )
    assert not summary["depth_scale_applied"]
    assert summary["settings"]["depth"]["aperture_model"] == "auto"
    assert summary["aperture_model"] == "off"


def test_a_device_or_threads_that_are_not_there_are_refused() -> None:
    assert chosen_device("cpu") == "cpu"
    if gpu_problem() is not None:
        assert chosen_device("auto") == "cpu"
        with pytest.raises(InputError, match=r"^device: .*use device cpu\)"):
            chosen_device("cuda")
    with pytest.raises(InputError, match="device: is 'tpu'"):
        chosen_device("tpu")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="threads: is 0"):
        thread_count(0)


# --- the files --------------------------------------------------------------------------------------------------


def test_a_frames_files(frame: DepthResult, tmp_path: Path) -> None:
    paths = frame.save(tmp_path)
    assert paths == sorted(tmp_path.iterdir()) == [tmp_path / f"plane.{end}" for end in ENDS]
    for end, values in {"depth": frame.z, "sigma": frame.sigma, "confidence": frame.confidence}.items():
        assert np.array_equal(read_float_map(tmp_path / f"plane.{end}.tiff"), values, equal_nan=True)
    assert frame.cloud is not None
    assert len(read_ply(tmp_path / "plane.ply")["points"]) == len(frame.cloud)


def test_only_the_chosen_files_are_written_and_only_they_are_computed(frame: DepthResult, tmp_path: Path) -> None:
    fresh = replace(frame, summary=replace(SUMMARY, clock=StageClock()))
    names = [path.name for path in fresh.save(tmp_path, ["virtual", "sigma"])]
    assert names == ["plane.json", "plane.sigma.tiff", "plane.virtual.tiff"]
    assert list(fresh.summary.clock.stages) == ["write"]
    loaded = load_virtual_map(tmp_path / "plane.virtual.tiff")
    assert np.array_equal(loaded.virtual_depth, frame.virtual.virtual_depth, equal_nan=True)


def test_a_camera_without_optics_has_fewer(frame: DepthResult, tmp_path: Path) -> None:
    grid = as_grid(frame)
    grid.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "plane.virtual.tiff", "plane.confidence.tiff", "plane.json", "plane.png"
    }  # fmt: skip
    with pytest.raises(InputError, match="outputs: names depth: metric depth needs a calibrated camera"):
        grid.save(tmp_path, ["depth"])
    with pytest.raises(InputError, match=r"outputs: names 'mesh' \(choose among depth, sigma, "):
        frame.save(tmp_path, ["mesh"])  # type: ignore[list-item]


@pytest.mark.parametrize(("size", "culprit"), [(1_000_000, "ply"), (60_000, "depth.tiff"), (0, "depth.tiff")])
def test_a_file_that_the_system_cuts_short_leaves_none_behind(
    frame: DepthResult, tmp_path: Path, size: int, culprit: str
) -> None:
    (tmp_path / "plane.json").write_text("of an earlier run")
    with largest_file(size), pytest.raises(InputError) as caught:
        frame.save(tmp_path)
    assert caught.value.file == str(tmp_path / f"plane.{culprit}")
    assert caught.value.message == "cannot be written: File too large"
    assert [path.name for path in tmp_path.iterdir()] == ["plane.json"]
    assert (tmp_path / "plane.json").read_text() == "of an earlier run"


def test_a_folder_in_the_way_of_one_file_keeps_all_away(frame: DepthResult, tmp_path: Path) -> None:
    (tmp_path / "plane.ply").mkdir()
    with pytest.raises(InputError, match=r"/plane\.ply: is a folder"):
        frame.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["plane.ply"]


def test_a_folder_that_is_not_there_is_made(frame: DepthResult, tmp_path: Path) -> None:
    assert frame.save(tmp_path / "new" / "folder")[0].is_file()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        frame.save(tmp_path / "file")


def test_arrays_of_a_result(frame: DepthResult) -> None:
    assert frame.metric is not None
    assert frame.cloud is not None
    assert frame.z is frame.metric.depth
    assert frame.sigma is frame.metric.sigma
    assert frame.points is frame.cloud.points
    only_virtual = as_grid(frame)
    assert only_virtual.confidence is frame.virtual.confidence
    for name in ("z", "sigma", "points"):
        with pytest.raises(InputError, match="metric depth needs a calibrated camera"):
            getattr(only_virtual, name)


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt, InputError])
def test_files_of_a_block_that_fails_vanish(tmp_path: Path, fault: type[BaseException]) -> None:
    (tmp_path / "a").write_text("old")

    def write_and_fail() -> None:
        with atomic_files(tmp_path) as folder:
            (folder / "a").write_text("new")
            raise fault("of something else")

    with pytest.raises(fault, match="of something else"):
        write_and_fail()
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
