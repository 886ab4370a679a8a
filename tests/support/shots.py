"""A folder of small raw images, each another one, and its options on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from simulated import scene_shot

from plenodepth.camera import preset
from plenodepth.io import read_image, write_image
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.simulate import FrameSettings

WITH_TIMES = (".json", ".jsonl", ".csv")
CAMERA = ("--camera", "r12-mini")


def write_shots(folder: Path, count: int, *, name: str = "shot {}é") -> list[Path]:
    """Images of a wall through r12-mini, each with noise of its own."""
    camera = preset("r12-mini")
    raw = scene_shot(wall_scene(1000.0, 3, camera), camera, FrameSettings(RenderSettings(rays=48))) / "raw.png"
    image = read_image(raw).astype(np.float32)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name.format(index)}.png" for index in range(count)]
    for index, path in enumerate(paths):
        noise = np.random.default_rng(index).normal(0, 40, image.shape)
        write_image(np.clip(image + noise, 0, 65535).astype(np.uint16), path)
    return paths


def write_clip(path: Path, images: list[Path]) -> None:
    """A video without loss, FFV1, of images of 12 bits, in 16."""
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=30)
        stream.height, stream.width = read_image(images[0]).shape[:2]
        stream.pix_fmt = "gbrp16le"
        for image in images:
            frame = av.VideoFrame.from_ndarray(16 * read_image(image), format="rgb48le")
            container.mux(stream.encode(frame.reformat(format="gbrp16le")))
        container.mux(stream.encode())


def results(folder: Path) -> dict[str, bytes]:
    """Every result of a batch by its path; records hold times, and no two runs write the same."""
    files = [
        path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in (".json", ".jsonl", ".csv")
    ]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def everything(folder: Path) -> set[str]:
    """The paths of all files and folders in a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
