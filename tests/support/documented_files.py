"""The files that pages of the documentation take for granted: the reader's own images, cameras and results.

They are those of the twin of R12-A, full size, and of real cameras where a page is about files of other programs.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import yaml
from shared_files import shared

from plenodepth.cache import cache_key
from plenodepth.camera import preset, save_camera
from plenodepth.io import DepthMapArchive, read_float_map, read_image, write_depth_map, write_float_map, write_image
from plenodepth.sim import FrameSettings, RenderSettings, simulate_dataset, simulate_scene
from plenodepth.sim.scenes.twins import wall_scene

PLACES = {frame: 500.0 + 50 * frame for frame in range(6)}  # mm, of the maps for `evaluate relative`
DISTANCE = 320.0  # mm, of the wall
CORNER, SIZE = (1024, 768), (1024, 1024)  # of a part of the frame, px


def key_of(words: str) -> str:
    """The key of what a command makes of nothing but what ships."""
    return cache_key({"documented": words})


def twin() -> Path:
    """The twin of R12-A, full size: minutes, once in a test run, as a command of the documentation makes it."""
    key = key_of("plenodepth simulate dataset r12-a --out twin")
    return shared(key, lambda folder: simulate_dataset("r12-a", folder / "twin")) / "twin"


def of_twin(name: str, path: Path) -> None:
    path.symlink_to(twin() / name)


def frame() -> Path:
    """A frame of a textured wall before the camera of the twin, with its truth."""
    camera, settings = preset("r12-a"), FrameSettings(RenderSettings(rays=24))
    return shared(
        "documented-frame", lambda folder: simulate_scene(wall_scene(DISTANCE, 3, camera), camera, folder, settings)
    )


def of_frame(name: str, path: Path) -> None:
    path.symlink_to(frame() / name)


def whites(folder: Path) -> None:
    """White images named as docs/calibration.md has them."""
    folder.mkdir()
    for image in sorted((twin() / "white").glob("f*/raw.png")):
        (folder / f"white_f{float(image.parent.name[1:]):g}.png").symlink_to(image)


def boards(folder: Path) -> None:
    folder.mkdir()
    for image in sorted((twin() / "boards").glob("*/raw.png")):
        (folder / f"board_{image.parent.name}.png").symlink_to(image)


def shots(folder: Path) -> None:
    """A few frames of one camera."""
    folder.mkdir()
    for name in ("02", "03", "08"):
        (folder / f"frame-{name}.png").symlink_to(twin() / "steps" / name / "raw.png")


def part(path: Path) -> None:
    """A part of the frame, as a camera with a region of interest gives it."""
    (x, y), (width, height) = CORNER, SIZE
    write_image(read_image(frame() / "raw.png")[y : y + height, x : x + width], path)


def steps(stretch: float, folder: Path) -> None:
    """Maps of a wall that was moved in known steps."""
    for frame, place in PLACES.items():
        (folder / f"{frame:02d}").mkdir(parents=True)
        write_float_map(np.full((4, 5), stretch * place + 7), folder / f"{frame:02d}" / "depth.tiff")


def table(path: Path) -> None:
    path.write_text("frame,depth\n" + "".join(f"{frame},{300 + 10 * frame}\n" for frame in range(12)))


def distances(path: Path) -> None:
    path.write_text("".join(f"{frame} {place - 500}\n" for frame, place in PLACES.items()))


def archive(path: Path) -> None:
    """The true depth of the frame, as libpleno's programs write depth."""
    depth = read_float_map(frame() / "lens_depth.tiff")
    state = np.where(np.isfinite(depth), 2, 0).astype(np.uint16)
    write_depth_map(DepthMapArchive(depth, np.zeros_like(depth), state, 200, 500, metric=True, coarse=True), path)


def settings(path: Path) -> None:
    path.write_text(yaml.safe_dump({"depth": {"refined": True}}))


def quick_twin(path: Path) -> None:
    path.symlink_to(
        shared("documented-quick-twin", lambda folder: simulate_dataset("r12-a", folder, quick=True, rays=8))
    )


SIMULATED: dict[str, Callable[[Path], None]] = {
    **dict.fromkeys(("raw.png", "raw1.png", "next.png"), partial(of_frame, "raw.png")),
    "raw2.png": partial(of_twin, "steps/01/raw.png"),
    "raw3.png": partial(of_twin, "steps/08/raw.png"),
    "frame": lambda path: path.symlink_to(frame()),
    **dict.fromkeys(("white.png", "mask.png"), partial(of_twin, "white/f04.00/raw.png")),
    "part.png": part,
    "whites": whites,
    "boards": boards,
    "shots": shots,
    **dict.fromkeys(("camera.yaml", "last-year.yaml"), lambda path: save_camera(preset("r12-a"), path)),
    "dm-blade-0-1234.bin.gz": archive,
    "settings.yaml": settings,
    "out/steps": partial(steps, 1.03),
    "before": partial(steps, 1.03),
    "after": partial(steps, 1.01),
    "depths.csv": table,
    "distances.txt": distances,
    "twins/r12-a": quick_twin,
}
REAL = {  # in the folder of real data
    "grid.xml": "r5/fujita2-calib.xml",
    "calib.cfg": "r5/tlct-calib.cfg",
    "frame.png": "r5/fujita2-frame0.png",
    "intrinsics.js": "r12a/intrinsics.js",
    "params.js": "r12a/params.js",
    "camera.js": "r12a/camera.js",
    "poses.js": "r12a/poses.js",
    "extrinsics.js": "r12a/poses.js",
    "bap.csv": "r12a/bap-R12-A.csv",
    "centers.csv": "r12a/center-R12-A.csv",
    "R12-A": "r12a",
    "observations.bin.gz": "r12a/linked-observations-R12-A.bin.gz",
}


def put(name: str, folder: Path, real_data: Callable[[], Path]) -> None:
    """Put the file into the folder under its name, with the folders that lead there."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    if name in REAL:
        source = real_data() / REAL[name]  # copied: a command may write over it
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, folder / name)
    else:
        SIMULATED[name](folder / name)


def known(word: str) -> str | None:
    """The name of the reader's file or folder that a word of a command is or lies in."""
    path = Path(word)
    return next((str(place) for place in (path, *path.parents) if str(place) in {**SIMULATED, **REAL}), None)
