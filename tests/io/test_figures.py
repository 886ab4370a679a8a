"""Figures as files."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from random_cameras import base

from plenodepth.camera.summary import summarise
from plenodepth.errors import InputError
from plenodepth.view import camera_figure, write_figure


def small_figure() -> Figure:
    figure = Figure(figsize=(2, 1))
    figure.subplots().plot([0, 1])
    return figure


@pytest.mark.parametrize(("name", "magic"), [("f.png", b"\x89PNG"), ("f.PDF", b"%PDF"), ("f.svg", b"<?xml")])
def test_the_suffix_chooses_the_format(tmp_path: Path, name: str, magic: bytes) -> None:
    write_figure(small_figure(), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(magic)
    assert list(tmp_path.iterdir()) == [tmp_path / name]


def test_the_picture_is_large_enough_and_not_empty(tmp_path: Path) -> None:
    write_figure(camera_figure(summarise(base("r12-e"))), tmp_path / "f.png", dpi=100)
    image = imread(tmp_path / "f.png")
    assert image.shape == (700, 900, 4)
    for half in (image[:350], image[350:]):
        assert 0.005 < (half[..., :3].min(axis=-1) < 0.9).mean() < 0.5, "lines on a white ground"


@pytest.mark.parametrize("name", ["f.jpeg2", "f", "f.pgf", "f.txt"])
def test_other_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="which no figure can have"):
        write_figure(small_figure(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_old_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no more ink")

    (tmp_path / "f.png").write_text("old")
    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(RuntimeError):
        write_figure(small_figure(), tmp_path / "f.png")
    assert (tmp_path / "f.png").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "f.png"]


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_a_figure_that_the_system_cuts_short_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    resource = pytest.importorskip(
        "resource", reason="this system has no module resource, which limits the size of files"
    )
    noise = np.random.default_rng(1).random((60, 60), np.float32)
    figure = Figure()
    figure.subplots().imshow(noise)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(InputError, match=rf"a\.{suffix}: cannot be written: File too large"):
            write_figure(figure, tmp_path / f"a.{suffix}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(tmp_path.iterdir()) == []
