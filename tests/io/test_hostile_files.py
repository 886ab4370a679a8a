"""Files made to take the machine down: each is refused, soon, and before it takes memory."""

from __future__ import annotations

import gzip
import json
import os
import resource
import struct
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from corner_grids import tspc_xml

from plenodepth.calib.lidar.files import read_lidar_pose
from plenodepth.camera import load_camera, preset, save_camera
from plenodepth.camera.files.views import load_views
from plenodepth.depth.settings_file import load_settings
from plenodepth.errors import InputError
from plenodepth.evaluate.clouds.lidar_frame import read_cam_from_lidar
from plenodepth.io import (
    read_bytes,
    read_cloud,
    read_depth_map,
    read_frame_distances,
    read_image,
    read_map,
    read_observations,
    read_places,
    read_ply,
    read_raytrix_grid,
    write_image,
)
from plenodepth.io.budget import DEFAULT, VARIABLE, memory_per_file
from plenodepth.io.libpleno.depth_lists import read_depth_list
from plenodepth.sim.scenes.scene_file import load_scene
from plenodepth.sim.scenes.textures import noise_image, read_texture

SECONDS = 5.0  # of CPU time
MEMORY = 300 << 20  # bytes that a refused file may take meanwhile
LARGEST_PICTURE = 1 << 30  # bytes for making the largest picture of noise, which is allowed
ZEROS = bytes(1 << 20)


def gzip_bomb(start: bytes = b"", mebibytes: int = 1500) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(start) + b"".join(packer.compress(ZEROS) for _ in range(mebibytes)) + packer.flush()


def deflate_bomb(mebibytes: int) -> bytes:
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(ZEROS) for _ in range(mebibytes)) + packer.flush()


def jpeg_of(width: int, height: int) -> bytes:
    """A start of a JPEG that is 1 kB long."""
    frame = struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes([1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])
    return b"\xff\xd8\xff\xc0" + frame + bytes(1000) + b"\xff\xd9"


def tiff_with_a_bomb(path: Path) -> None:
    """A page of 20 × 16 whose only strip unpacks to 400 MiB."""
    tifffile.imwrite(path, np.ones((16, 20), np.uint16), compression="deflate", photometric="minisblack")
    with tifffile.TiffFile(path) as tiff:
        tags = tiff.pages.first.tags
        places = [tags[name].valueoffset for name in ("StripOffsets", "StripByteCounts")]
        kinds = [tags[name].dtype for name in ("StripOffsets", "StripByteCounts")]
    data = bytearray(path.read_bytes())
    bomb = deflate_bomb(400)
    for place, kind, value in zip(places, kinds, (len(data), len(bomb)), strict=True):
        struct.pack_into({3: "<H", 4: "<I"}[int(kind)], data, place, value & (0xFFFF if kind == 3 else 0xFFFFFFFF))
    path.write_bytes(bytes(data) + bomb)


def exr_of_channels(path: Path, side: int, channels: int) -> None:
    import OpenEXR

    zeros = np.zeros((side, side), np.float16)
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    parts = {f"c{number:03d}": OpenEXR.Channel(zeros) for number in range(channels)}
    OpenEXR.File(header, parts).write(str(path))


GLB_OF_ZEROS = json.dumps(
    {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"componentType": 5126, "count": 10**9, "type": "VEC3"}],
    }
).encode()


def glb(text: bytes) -> bytes:
    text += b" " * (-len(text) % 4)
    return struct.pack("<4sIII4s", b"glTF", 2, 20 + len(text), len(text), b"JSON") + text


def huge_camera(path: Path) -> object:
    save_camera(preset("r12-mini"), path)
    text = path.read_text().replace("width: 560", "width: 1120000").replace("height: 404", "height: 808000")
    path.write_text(text.replace("columns: 24", "columns: 48000").replace("rows: 20", "rows: 40000"))
    return load_camera(path)


def npy_of(shape: tuple[int, int]) -> bytes:
    header = repr({"descr": "<f4", "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(64)


def grid_of_tspc(path: Path) -> object:
    return load_camera(path, image_size=(600, 520))


def scene_of(text: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        path.write_text(f"plenodepth_scene: 1\nobjects: [{text}]\n")
        return load_scene(path)

    return read


def holding(data: bytes, reader: Callable[[Path], object]) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        path.write_bytes(data)
        return reader(path)

    return read


def made_by(maker: Callable[[Path], None], reader: Callable[[Path], object]) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        maker(path)
        return reader(path)

    return read


NOISE = "{kind: rectangle, size: [9e5, 9e5], position: [0, 0, 900], texture: {kind: noise, cell: 1e3, seed: %d}}"
ATTACKS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "archive of zeros": ("a.bin.gz", holding(gzip_bomb(), read_observations), "too many"),
    "archive with a promise": (
        "a.bin.gz",
        holding(gzip_bomb((10**9).to_bytes(8, "little")), read_depth_map),
        "needs .* of memory|room for",
    ),
    "archive of members": (
        "a.bin.gz",
        holding(gzip.compress(b"") * 100_000, read_depth_map),
        "more than 1000 members",
    ),
    "map of one line": ("a.csv", holding(b"k,l,d\n99999,99999,1\n", read_map), "k, l: needs 37.* GiB of memory"),
    "EXR of many channels": (
        "a.exr",
        made_by(lambda path: exr_of_channels(path, 1024, 150), read_map),
        "size 1024 × 1024: needs 1.17 GiB",
    ),
    "TIFF with a huge strip": ("a.tif", made_by(tiff_with_a_bomb, lambda path: list(read_image(path))), "never"),
    "JPEG of a kilobyte": ("a.jpg", holding(jpeg_of(32767, 32767), read_image), "do not fit into"),
    "texture of a kilobyte": ("a.jpg", holding(jpeg_of(32767, 32767), read_texture), "do not fit into"),
    "scene of one line": ("a.yaml", scene_of(", ".join(NOISE % seed for seed in range(2))), "needs .* of memory"),
    "scene of figurines": (
        "a.yaml",
        scene_of(", ".join(["{kind: figurine, shape: vase, detail: 5000000, position: [0, 0, 900]}"] * 5)),
        "needs .* of memory|detail",
    ),
    "GLB of zeros": (
        "a.glb",
        holding(glb(GLB_OF_ZEROS), lambda path: scene_of(MESH)(path.with_suffix(".yaml"))),
        "needs 59.6 GiB",
    ),
    "nested settings": ("a.json", holding(b'{"a":' * 600 + b"1" + b"}" * 600, load_settings), "within each other"),
    "lidar pose of 400 digits": (
        "a.json",
        holding(
            b'{"plenodepth_lidar_pose": 1, "cam_from_lidar": {"rotation": [[1,0,0],[0,1,0],[0,0,1]], "translation": ['
            + b"9" * 400
            + b", 0, 0]}}",
            read_lidar_pose,
        ),
        "an integer of 400 digits",
    ),
    "simulated pose of 400 digits": (
        "a.json",
        holding(
            b'{"rotation": [[1,0,0],[0,1,0],[0,0,1]], "translation": [' + b"9" * 400 + b", 0, 0]}", read_cam_from_lidar
        ),
        "an integer of 400 digits",
    ),
    "lens type of 5,000 digits": (
        "a.xml",
        holding(
            b"<RayCalibData><offset><x>0</x><y>0</y></offset><diameter>9</diameter><rotation>0</rotation>"
            b"<lens_border>0</lens_border><tcp>2</tcp><lens_base_x><x>1</x><y>0</y></lens_base_x>"
            b"<lens_base_y><x>0</x><y>1</y></lens_base_y><sub_grid_base><x>1</x><y>1</y></sub_grid_base>"
            b'<lens_type id="' + b"9" * 5000 + b'"/></RayCalibData>',
            read_raytrix_grid,
        ),
        "is not a whole number: '9+\\.\\.\\.'",
    ),
    "folder of 5,000 digits": (
        "a.json",
        holding(b'{"frames": [{"folder": "' + b"9" * 5000 + b'", "distance": 1}]}', read_places),
        "has a folder without a number",
    ),
    "camera of a billion lenses": ("a.yaml", huge_camera, "width, height: needs 3.29 TiB"),
    "view of a million columns": (
        "a.json",
        holding(b'{"plenodepth_views": 1, "views": [{"name": "a", "width": 1e6, "height": 1e6}]}', load_views),
        "needs 10.9 TiB",
    ),
    "view with a name of 5,000 letters": (
        "a.json",
        holding(b'{"plenodepth_views": 1, "views": [{"name": "' + b"a" * 5000 + b'"}]}', load_views),
        "is no plain name",
    ),
    "depth list with a name of 5,000 letters": (
        "a.js",
        holding(b'{"maps": [{"path": "' + b"a" * 5000 + b'"}]}', read_depth_list),
        "is not there",
    ),
    "NPY of minus one row": ("a.npy", holding(npy_of((-1, 1)), read_map), "of the shape"),
    "NPY of a promise": ("a.npy", holding(npy_of((10**6, 10**6)), read_map), "it ends before"),
    "corners of a huge grid": (
        "a.xml",
        holding(tspc_xml(np.array([[0, 0], [1e300, 0], [0, 1e300], [1e300, 1e300]])).encode(), grid_of_tspc),
        "not a whole number of them",
    ),
    "number of 100,000 digits": ("a.xyz", holding(b"1 2 3\n4 5 " + b"9" * 100_000 + b" x\n", read_cloud), ""),
    "blanks between numbers": ("a.txt", holding(b"1" + b" " * 200_000 + b"x\n", read_frame_distances), "not a number"),
    "lines of a grid file": ("a.cfg", holding(b"\n" * 500_000 + b"Lenslet", load_camera), ""),
    "PLY property called colors": (
        "a.ply",
        holding(
            b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
            b"property float colors\nend_header\n1 2 3 4\n",
            read_cloud,
        ),
        "has a property that is called colors",
    ),
    "PLY property called points": (
        "a.ply",
        holding(
            b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
            b"property float points\nend_header\n1 2 3 4\n",
            read_ply,
        ),
        "has a property that is called points",
    ),
}
MESH = "{kind: mesh, file: a.glb, position: [0, 0, 900]}"


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_before_it_takes_memory(tmp_path: Path, name: str) -> None:
    file, read, message = ATTACKS[name]
    if name == "TIFF with a huge strip":  # of which its 640 bytes are read
        limited(lambda: read(tmp_path / file))
        return

    def refused() -> None:
        started = time.process_time()
        with pytest.raises(InputError, match=message or None) as caught:
            read(tmp_path / file)
        assert time.process_time() - started < SECONDS
        assert len(str(caught.value)) < 1500

    limited(refused, LARGEST_PICTURE if name.startswith("scene") else MEMORY)


def limited(call: Callable[[], object], memory: int = MEMORY) -> None:
    """Run with little more address space than the process has: what takes more fails with a MemoryError."""
    import cv2
    import OpenEXR  # noqa: F401  what is imported counts, too

    cv2.setNumThreads(1)
    noise_image(8, 8)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * os.sysconf("SC_PAGE_SIZE") + memory, before[1]))
    try:
        call()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("reader", [read_bytes, read_image, read_texture, read_map, read_cloud, load_scene])
@pytest.mark.parametrize("place", ["/dev/zero", "pipe"])
def test_only_regular_files_are_read(tmp_path: Path, reader: Callable[[Path], object], place: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.tif").symlink_to(tmp_path / place)
    (tmp_path / "a.ply").symlink_to(tmp_path / place)
    with pytest.raises(InputError, match="is a device or a pipe"):
        reader(tmp_path / ("a.ply" if reader is read_cloud else "a.tif"))


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "a" * 5000])
def test_a_name_that_no_file_can_have_is_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"is no name of a file|name too long") as caught:
        read_bytes(tmp_path / name)
    assert len(str(caught.value)) < 1100
    assert str(caught.value).isprintable()


def test_what_a_file_may_take_is_set_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_per_file() == DEFAULT
    for text, size in {"2G": 2 << 30, "800M": 800 << 20, "1 ": 1, "3gib": 3 << 30, "": DEFAULT}.items():
        monkeypatch.setenv(VARIABLE, text)
        assert memory_per_file() == size
    for text in ("0", "-1", "much", "1e9", "²", "9" * 40):
        monkeypatch.setenv(VARIABLE, text)
        with pytest.raises(InputError, match=f"{VARIABLE}: is"):
            memory_per_file()


def test_who_trusts_a_file_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_image(np.zeros((2000, 2000), np.uint8), tmp_path / "a.png")
    monkeypatch.setenv(VARIABLE, "1M")
    with pytest.raises(InputError, match=rf"size 2000 × 2000: needs 15.3 MiB .* set {VARIABLE}=16M\)"):
        read_image(tmp_path / "a.png")
    monkeypatch.setenv(VARIABLE, "16M")
    assert read_image(tmp_path / "a.png").shape == (2000, 2000)
