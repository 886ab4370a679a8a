"""A damaged video is refused, or shows what it showed before, as far as its stream can tell."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import av
import cv2
import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.io.image_formats import read_images

Array = np.ndarray[Any, Any]
SMALL, LARGE = (96, 128), (480, 640)
FRAMES = 5
DAMAGES = (0, 1, 8, 100, 500)  # bytes; 0: a single bit
QUIET = "log-level=none"


class Recording(NamedTuple):
    """A way to record, and the share of the damages that change frames, of `SMALL` and of `LARGE`, and go unnoticed."""

    suffix: str
    codec: str
    options: dict[str, str]
    unnoticed: tuple[float, float]  # at most: what 200 damages showed is in docs/depth.md, and chance adds to it


RECORDINGS = {
    "FFV1 in Matroska": Recording(".mkv", "ffv1", {}, (0, 0)),
    "FFV1 in AVI": Recording(".avi", "ffv1", {"level": "3"}, (0, 0)),
    "H.264 in Matroska": Recording(".mkv", "libx264", {"crf": "20"}, (0, 0)),
    "HEVC in Matroska": Recording(".mkv", "libx265", {"x265-params": QUIET}, (0, 0)),
    "HEVC with hashes": Recording(".mp4", "libx265", {"x265-params": f"{QUIET}:hash=1"}, (0, 0)),
    "H.264 in MP4": Recording(".mp4", "libx264", {"crf": "20"}, (0.45, 0.15)),
    "H.264 in AVI": Recording(".avi", "libx264", {"crf": "20"}, (0.5, 0.15)),
    "H.264 alone": Recording(".h264", "libx264", {"crf": "20"}, (0.45, 0.15)),
    "MPEG-4 in AVI": Recording(".avi", "mpeg4", {}, (0.3, 0.35)),
    "MJPEG in AVI": Recording(".avi", "mjpeg", {}, (0.7, 0.75)),
}


def scene(size: tuple[int, int], noise: float, seed: int) -> list[Array]:
    """Frames of YUV 4:2:0 (3 h / 2, w): soft blobs that move, and noise."""
    rng, (height, width) = np.random.default_rng(seed), size
    wide = cv2.GaussianBlur(rng.normal(size=(height + 20, width + 20)), (0, 0), 2.0)
    wide = 128 + 100 * wide / np.abs(wide).max()
    frames = list[Array]()
    for number in range(FRAMES):
        luma = wide[number : number + height, 2 * number : 2 * number + width]
        whole = np.vstack([luma, np.full((height // 2, width), 128.0)])
        frames.append(np.clip(whole + rng.normal(0, noise, whole.shape), 0, 255).astype(np.uint8))
    return frames


def recorded(write: Any, path: Path, recording: Recording, frames: list[Array]) -> bytes:
    pixels = "yuvj420p" if recording.codec == "mjpeg" else "yuv420p"
    write.video(path, frames, recording.codec, pixels, **recording.options)
    return path.read_bytes()


def damaged(data: bytes, count: int, seed: int) -> bytes:
    """With one bit turned, or `count` bytes replaced by others, anywhere."""
    rng, changed = np.random.default_rng((count, seed)), bytearray(data)
    at = int(rng.integers(len(data) - max(count, 1)))
    if count:
        changed[at : at + count] = rng.integers(0, 256, count).astype(np.uint8).tobytes()
    else:
        changed[at] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def shown(path: Path) -> tuple[list[Array], str]:
    """The frames of a video up to the first that is refused, and why it is."""
    frames = list[Array]()
    try:
        for image in read_images(path):
            frames.append(image.pixels)
    except InputError as error:
        return frames, str(error)
    return frames, ""


def outcomes(write: Any, folder: Path, recording: Recording, size: tuple[int, int], seeds: range) -> Iterator[str]:
    """What each damage led to: "same", "told" or "unnoticed"."""
    path = folder / f"clip{recording.suffix}"
    for noise in (2.0, 70.0):
        data = recorded(write, path, recording, scene(size, noise, seeds.start))
        before, why = shown(path)
        assert (len(before), why) == (FRAMES, "")
        for count in DAMAGES:
            for seed in seeds:
                path.write_bytes(damaged(data, count, seed))
                after, why = shown(path)
                assert len(why.splitlines()) <= 1
                right = all(np.array_equal(one, other) for one, other in zip(before, after, strict=False))
                if right and why:
                    yield "told"
                else:
                    yield "same" if right and len(after) == FRAMES else "unnoticed"


def unnoticed_share(results: list[str]) -> float:
    """Of the damages that matter."""
    return results.count("unnoticed") / max(len(results) - results.count("same"), 1)


@pytest.mark.parametrize("name", RECORDINGS)
def test_damage_is_told_as_far_as_the_stream_tells(tmp_path: Path, write: Any, name: str) -> None:
    recording = RECORDINGS[name]
    results = list(outcomes(write, tmp_path, recording, SMALL, range(8)))
    assert unnoticed_share(results) <= recording.unnoticed[0], results


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDINGS)
def test_damage_to_larger_frames_is_told_more_often(tmp_path: Path, write: Any, name: str) -> None:
    recording = RECORDINGS[name]
    results = list(outcomes(write, tmp_path, recording, LARGE, range(100, 120)))
    assert unnoticed_share(results) <= recording.unnoticed[1], results


def test_frames_before_the_damage_are_given_and_it_is_named(tmp_path: Path, write: Any) -> None:
    frames = scene(SMALL, 9.0, 0)
    data = bytearray(recorded(write, tmp_path / "clip.nut", Recording(".nut", "ffv1", {}, (0, 0)), frames))
    data[int(0.7 * len(data))] ^= 1
    (tmp_path / "clip.nut").write_bytes(data)
    given, why = shown(tmp_path / "clip.nut")
    assert len(given) == 3
    assert "clip.nut: frame 3: is damaged: slice CRC mismatch" in why
    assert len(list(read_images(tmp_path / "clip.nut", frames=slice(0, 3)))) == 3, "the rest is not looked at"
    with pytest.raises(InputError, match="frame 3: is damaged"):  # a frame may be made of those before
        list(read_images(tmp_path / "clip.nut", frames=slice(4, 5)))


@pytest.mark.parametrize(
    ("suffix", "codec", "options"),
    [
        (".mp4", "libx264", {"bf": "0"}),
        (".avi", "libx264", {}),
        (".avi", "ffv1", {}),
        (".mkv", "ffv1", {}),
        (".mkv", "libx264", {}),
    ],
)
@pytest.mark.parametrize("left", [0.5, 0.7, 0.9])
def test_a_video_that_is_cut_off_is_told(
    tmp_path: Path, write: Any, suffix: str, codec: str, options: dict[str, str], left: float
) -> None:
    path = tmp_path / f"clip{suffix}"
    if suffix == ".mp4":  # with the list of frames before them
        with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
            stream = container.add_stream(codec, rate=25, options=options)
            stream.width, stream.height, stream.pix_fmt = SMALL[1], SMALL[0], "yuv420p"
            for array in scene(SMALL, 20.0, 0):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(array, format="yuv420p")))
            container.mux(stream.encode())
    else:
        recorded(write, path, Recording(suffix, codec, options, (0, 0)), scene(SMALL, 20.0, 0))
    data = path.read_bytes()
    path.write_bytes(data[: int(left * len(data))])
    _, why = shown(path)
    assert path.name in why


@pytest.mark.parametrize("suffix", [".avi", ".mp4", ".mkv", ".nut"])
def test_a_pause_in_a_recording_is_no_damage(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"clip{suffix}"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4" if suffix == ".mp4" else "ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = SMALL[1], SMALL[0], "yuv420p"
        for number, array in enumerate(scene(SMALL, 2.0, 0)):
            frame = av.VideoFrame.from_ndarray(array, format="yuv420p")
            frame.pts = number if number < 3 else number + 7
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    assert shown(path)[1] == ""
    assert len(shown(path)[0]) == FRAMES


def test_videos_read_at_once_do_not_hear_each_other(tmp_path: Path, write: Any) -> None:
    ffv1 = Recording(".nut", "ffv1", {}, (0, 0))
    good = recorded(write, tmp_path / "good.nut", ffv1, scene(SMALL, 9.0, 0))
    for number in range(4):
        (tmp_path / f"good{number}.nut").write_bytes(good)
        (tmp_path / f"bad{number}.nut").write_bytes(damaged(good[:-2000], 100, number) + good[-2000:])
    level = av.logging.get_level()
    with ThreadPoolExecutor(4) as threads:
        every = [tmp_path / f"{kind}{number}.nut" for _ in range(6) for number in range(4) for kind in ("good", "bad")]
        whys = list(threads.map(lambda path: shown(path)[1], every))
    for path, why in zip(every, whys, strict=True):
        assert bool(why) == path.name.startswith("bad"), (path.name, why)
    assert av.logging.get_level() == level


@pytest.mark.realdata
@pytest.mark.slow
@pytest.mark.parametrize("name", ["r5/fujita2.vvc", "tspc/boys2.vvc"])
def test_real_videos_are_not_doubted(real_data: Path, name: str) -> None:
    assert sum(1 for _ in read_images(real_data / name)) == 300


@pytest.mark.realdata
def test_damage_to_a_real_video_is_told(tmp_path: Path, real_data: Path) -> None:
    """Its stream has a hash of each picture."""
    with (real_data / "r5" / "fujita2.vvc").open("rb") as file:
        data = file.read(380_000)  # the first packets
    for seed in range(3):
        (tmp_path / "clip.vvc").write_bytes(damaged(data, 0, seed))
        assert "clip.vvc" in shown(tmp_path / "clip.vvc")[1]
