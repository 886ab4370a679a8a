"""Every reader of a file from elsewhere, with a small good file, which our own writers make where there is one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import tifffile
from corner_grids import corners_of, tlct_text, tspc_xml
from fuzz_mutations import png_packed, png_unpacked
from image_writers import HEIGHT, WIDTH, Writers, lytro_metadata

from plenodepth.calib.feature_files import read_centers, read_features
from plenodepth.calib.image_list import listed_images
from plenodepth.calib.lidar.files import read_lidar_pose, read_scan, read_targets
from plenodepth.camera import load_camera, preset, save_camera
from plenodepth.camera.files.views import load_views
from plenodepth.depth.settings_file import SettingsFile, load_settings, save_settings
from plenodepth.evaluate.clouds.lidar_frame import read_cam_from_lidar
from plenodepth.evaluate.compare import compare_result_files
from plenodepth.geometry.lattice import Arrangement
from plenodepth.io import (
    CENTER_DTYPE,
    FEATURE_DTYPE,
    DepthMapArchive,
    FramePose,
    LibplenoBoard,
    LibplenoScene,
    Observations,
    PointCloudArchive,
    read_cloud,
    read_depth_table,
    read_float_map,
    read_frame_distances,
    read_map,
    read_observations,
    read_parameters,
    read_places,
    read_ply,
    read_point_cloud,
    read_poses,
    read_raytrix_grid,
    read_raytrix_pose,
    read_scene,
    write_depth_map,
    write_float_map,
    write_image,
    write_observations,
    write_ply,
    write_point_cloud,
    write_poses,
    write_pts,
    write_scene,
)
from plenodepth.io.image_formats import read_images
from plenodepth.io.libpleno.dataset_kinds import kind_of_file
from plenodepth.io.libpleno.depth_lists import read_depth_list
from plenodepth.metric.result import load_virtual_map
from plenodepth.sim.dataset import _manifest
from plenodepth.sim.optics.file import load_optics, save_optics
from plenodepth.sim.optics.presets import optics_preset
from plenodepth.sim.scenes.meshes import load_mesh
from plenodepth.sim.scenes.scene_file import load_scene
from plenodepth.sim.scenes.textures import read_texture

RNG = np.random.default_rng(1)
GRAY = RNG.integers(0, 1024, (HEIGHT, WIDTH)).astype(np.uint16)
RGB = RNG.integers(0, 256, (HEIGHT, WIDTH, 3)).astype(np.uint8)
POINTS = RNG.normal(0, 100, (20, 3)) + [0, 0, 500]


@dataclass(frozen=True)
class Reader:
    """How a reader is tried."""

    file: str  # its name
    make: Callable[[Path], Any]  # writes the good file
    read: Callable[[Path], Any]
    wrap: Callable[[bytes], bytes] = bytes  # what is done to the changed bytes, as to set checksums right


def every_image(path: Path) -> None:
    for _ in read_images(path):
        pass


def text(content: str) -> Callable[[Path], Any]:
    return lambda path: path.write_text(content, encoding="utf-8")


def raw(content: bytes) -> Callable[[Path], Any]:
    return lambda path: path.write_bytes(content)


def cv2_image(image: np.ndarray[Any, Any], *options: int) -> Callable[[Path], Any]:
    return lambda path: cv2.imwrite(str(path), image, options)


def tiff(image: np.ndarray[Any, Any], **options: Any) -> Callable[[Path], Any]:
    return lambda path: tifffile.imwrite(path, image, **options)


def observations(path: Path) -> None:
    tables = {"centers": np.zeros(5, CENTER_DTYPE), "features": np.ones(5, FEATURE_DTYPE)}
    write_observations(Observations(**tables), path)


def csv_observations(path: Path) -> None:
    write_observations(Observations(features=np.ones(5, FEATURE_DTYPE)), path)


def depth_map(path: Path) -> None:
    ones = np.ones((6, 5))
    write_depth_map(DepthMapArchive(ones, ones, ones.astype(np.uint16), 1.0, 9.0, metric=True, coarse=True), path)


def cloud_archive(path: Path) -> None:
    write_point_cloud(PointCloudArchive(POINTS, POINTS[:, :2], np.zeros((20, 3), np.uint8)), path)


def npy(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.ones((5, 6), np.float32))


def exr(path: Path) -> None:
    Writers.exr(path, Z=GRAY.astype(np.float32))


def scan(path: Path) -> None:
    write_pts(POINTS, path, intensity=POINTS[:, 0])


def board_scene(path: Path) -> None:
    write_scene(LibplenoScene(checkerboards=(LibplenoBoard(5, 4, 10.0, np.eye(3), np.zeros(3)),)), path)


def images_beside(content: str) -> Callable[[Path], Any]:
    def make(path: Path) -> None:
        for name in ("a.png", "b.png"):
            (path.parent / name).write_bytes(b"")
        path.write_text(content)

    return make


def png(image: np.ndarray[Any, Any], path: Path) -> None:
    cv2.imwrite(str(path), image)
    path.write_bytes(png_unpacked(path.read_bytes()))


def listed(path: Path) -> None:
    depth_map(path.with_name("a.bin.gz"))
    path.write_text(DEPTH_LIST)


def mesh(kind: str) -> Callable[[Path], Any]:
    import trimesh

    return lambda path: trimesh.creation.icosphere(1).export(str(path), file_type=kind)


def virtual_map(path: Path) -> None:
    write_float_map(np.full((6, 5), 4.0, np.float32), path.with_name("a.virtual.tiff"))
    path.write_text('{"aperture_model": "off", "settings": {"depth": {"refined": false}}}')


def result(path: Path) -> None:
    content = {
        "kind": "depth",
        "mean_ad_mm": 1.5,
        "tiles": [{"tile": "0,0", "mean_ad_mm": 1.0}],
        "relative": {"a": [1, 2]},
    }
    path.write_text(json.dumps(content))


SCENE = """plenodepth_scene: 1
ambient: 0.5
lights: [{direction: [0, 0, 1], intensity: 0.5}]
objects:
  - {kind: rectangle, size: [40, 30], position: [0, 0, 900], texture: {kind: noise, cell: 8, octaves: 2, seed: 3}}
  - {kind: sphere, radius: 20, position: [0, 0, 800], rotation: [1, 2, 3], color: [0.1, 0.2, 0.3]}
  - {kind: checkerboard, columns: 5, rows: 4, square: 10, center: [0, 0, 700], emits: false}
  - {kind: figurine, shape: vase, height: 50, detail: 600, position: [0, 50, 600], color: 0.4}
"""
GRID = """<RayCalibData version="1.0"><offset units="pix"><x>13.0</x><y>-20.5</y></offset>
<diameter units="pix">23.2</diameter>
<rotation units="rad">1.5</rotation><lens_border units="pix">1.0</lens_border><tcp units="virtual_depth">2.2</tcp>
<lens_base_x units="lens"><x>1.0</x><y>0.0</y></lens_base_x>
<lens_base_y units="lens"><x>0.5</x><y>0.866</y></lens_base_y>
<sub_grid_base units="lens"><x>3.0</x><y>1.732</y></sub_grid_base><distortion type="radial"><function>Brown</function>
<parameter count="2">0, 0</parameter><offset units="pix"><x>9</x><y>9</y></offset></distortion>
<lens_type id="0"><offset units="lens"><x>0</x><y>0</y></offset>
<depth_range units="virtual_depth"><min>1</min><max>3</max></depth_range></lens_type></RayCalibData>"""
OBJ = "mtllib a.mtl\nv 0 0 500\nv 10 0 500\nv 0 10 500\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl m\nf 1/1 2/2 3/3\n"
IDENTITY = "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]"
LIDAR_POSE = f"plenodepth_lidar_pose: 1\ncam_from_lidar:\n  rotation: {IDENTITY}\n  translation: [1.0, 2.0, 3.0]\n"
PTX = "2\n2\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n1 2 3 0.5\n4 5 6 0.5\n0 0 0 0\n7 8 9 0.1\n"
PARAMETERS = """{"q": ["1.0", "2.0"], "q_prime": ["1", "2"], "m": "3", "dc": "1", "dC": "1", "N": "4", "lambda": "1.1",
"scale": "0.1"}"""
VIEWS = """{"plenodepth_views": 1, "views": [{"name": "a", "width": 40, "height": 30, "fx": 50.0,
"fy": 50, "cx": 20, "cy": 15, "center": [1, 2, 3]}, {"name": "b", "width": 4, "height": 3}]}"""
MANIFEST = '{"dataset": "r12-a", "frames": [{"folder": "steps/01", "distance": 500.0, "sha256": {"raw.png": "00"}}]}'
DEPTH_LIST = '{"maps": [{"path": "a.bin.gz", "frame": "1"}], "metric": "true", "coarse": "false"}'


def lytro(path: Path) -> None:
    packed = RNG.integers(0, 256, HEIGHT * WIDTH * 12 // 8).astype(np.uint8).tobytes()
    Writers.lytro(path, packed, lytro_metadata(WIDTH, HEIGHT, illum=False), illum=False)


def video(codec: str, kind: str, frames: list[np.ndarray[Any, Any]]) -> Callable[[Path], Any]:
    return lambda path: Writers.video(path, frames, codec, kind)


IMAGES = {
    "png": Reader("a.png", lambda path: write_image(RGB, path), every_image),
    "png, inside": Reader("a.png", lambda path: png(RGB, path), every_image, png_packed),
    "png of 16 bits": Reader("a.png", lambda path: png(GRAY, path), every_image, png_packed),
    "png with alpha": Reader("a.png", lambda path: png(np.dstack([RGB, RGB[..., 0]]), path), every_image, png_packed),
    "tiff": Reader("a.tif", lambda path: write_image(GRAY, path), every_image),
    "tiff of floats": Reader("a.tif", lambda path: write_float_map(GRAY, path), read_float_map),
    "tiff, plain": Reader("a.tif", tiff(GRAY, photometric="minisblack"), every_image),
    "tiff, tiles": Reader("a.tif", tiff(RGB, tile=(16, 16), compression="zlib", predictor=True), every_image),
    "tiff, pages": Reader("a.tif", tiff(np.stack([GRAY, GRAY]), photometric="minisblack"), every_image),
    "tiff, LZW": Reader("a.tif", cv2_image(RGB, cv2.IMWRITE_TIFF_COMPRESSION, 5), every_image),
    "jpeg": Reader("a.jpg", cv2_image(RGB), every_image),
    "bmp": Reader("a.bmp", cv2_image(RGB), every_image),
    "pgm": Reader("a.pgm", cv2_image(GRAY), every_image),
    "ppm of text": Reader("a.ppm", text("P3\n# a\n2 2\n255\n1 2 3 4 5 6 7 8 9 10 11 12\n"), every_image),
    "exr": Reader("a.exr", exr, every_image),
    "dng": Reader("a.dng", lambda path: Writers.dng(path, np.tile(GRAY, (2, 2))), every_image),
    "lytro": Reader("a.lfp", lytro, every_image),
    "yuv": Reader("a_16x8_8bit_yuv420p.yuv", raw(RGB.tobytes()[: 3 * 16 * 8 * 3 // 2]), every_image),
    "mkv": Reader("a.mkv", video("ffv1", "gray16le", [GRAY << 6, GRAY]), every_image),
    "mp4": Reader("a.mp4", video("libx264rgb", "rgb24", [RGB, RGB]), every_image),
    "avi": Reader("a.avi", video("ffv1", "gray", [RGB[..., 0].copy(), RGB[..., 1].copy()]), every_image),
    "texture": Reader("a.jpg", cv2_image(RGB), read_texture),
}
MAPS = {
    "map.tiff": Reader("a.tiff", lambda path: write_float_map(GRAY, path), read_map),
    "map.npy": Reader("a.npy", npy, read_map),
    "map.exr": Reader("a.exr", exr, read_map),
    "map.csv": Reader("a.csv", text("frame,k,l,d\n0,0,0,1.5\n0,1,0,2.5\n0,1,2,3\n"), read_map),
    "map.bin": Reader("a.bin", depth_map, read_map),
    "map.bin.gz": Reader("a.bin.gz", depth_map, read_map),
    "map.bin.gz, inside": Reader("a.bin.gz", lambda path: unzipped(depth_map, path), read_map, gzip.compress),
}
CLOUDS = {
    "ply": Reader("a.ply", lambda path: write_ply(POINTS, path, intensity=POINTS[:, 0]), read_ply),
    "ply of text": Reader(
        "a.ply",
        text(
            "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
            "property uchar red\nend_header\n1 2 3 4\n5 6 7 8\n"
        ),
        read_cloud,
    ),
    "pts": Reader("a.pts", scan, read_cloud),
    "ptx": Reader("a.ptx", text(PTX), read_cloud),
    "xyz": Reader("a.xyz", text("3\n\n1 2 3\n4 5 6\n7 8 9\n"), read_cloud),
    "cloud.bin": Reader("a.bin", cloud_archive, read_point_cloud),
    "cloud.bin.gz": Reader("a.bin.gz", cloud_archive, read_cloud),
    "scan": Reader("a.pts", scan, read_scan),
}
CAMERAS = {
    "camera.yaml": Reader("a.yaml", lambda path: save_camera(preset("r12-mini"), path), load_camera),
    "camera.json": Reader("a.json", lambda path: save_camera(preset("r12-mini"), path), load_camera),
    "camera.js": Reader("a.js", lambda path: save_camera(preset("r12-mini"), path), load_camera),
    "parameters.js": Reader("a.js", text(PARAMETERS), read_parameters),
    "grid.xml": Reader("a.xml", text(GRID), lambda path: load_camera(path, image_size=(2048, 2048))),
    "grid of Raytrix": Reader("a.xml", text(GRID), read_raytrix_grid),
    "grid of TSPC": Reader(
        "a.xml",
        text(tspc_xml(corners_of(Arrangement.HEXAGONAL_COLUMNS, 21, 16, (30, 30)))),
        lambda path: load_camera(path, image_size=(600, 520)),
    ),
    "grid of TLCT": Reader("a.cfg", text(tlct_text()), load_camera),
}
TABLES = {
    "observations.bin": Reader("a.bin", observations, read_observations),
    "observations.bin.gz": Reader(
        "a.bin.gz", lambda path: unzipped(observations, path), read_observations, gzip.compress
    ),
    "observations.csv": Reader("a.csv", csv_observations, read_observations),
    "features": Reader("a.csv", csv_observations, read_features),
    "centres": Reader("a.csv", text("k,l,u,v\n1,2,3.5,4.5\n2,2,5.5,4.5\n"), read_centers),
    "poses.js": Reader("a.js", lambda path: write_poses([FramePose(1, np.eye(3), np.ones(3))], path), read_poses),
    "scene.js": Reader("a.js", board_scene, read_scene),
    "depth list": Reader("a.js", listed, read_depth_list),
    "pose of RxLive": Reader("a.mat", text("a\n" * 5 + "1 0 0 5\n0 1 0 6\n0 0 1 7\n0 0 0 1\n"), read_raytrix_pose),
    "distances": Reader("a.txt", text("frame distance\n1 500\n2, 510.5\n# no\n3; 520\n"), read_frame_distances),
    "places": Reader("a.json", text(MANIFEST), read_places),
    "depth table": Reader("a.csv", text("frame,d\n1,500\n1,510\n2,0\n"), read_depth_table),
    "image list": Reader(
        "manifest.yaml",
        images_beside("- {file: a.png, f_number: 8, frame: 7}\n- b.png\n"),
        lambda path: listed_images(path.parent),
    ),
    "targets": Reader("a.csv", text("x,y,z,name\n1,2,3,a\n4 5 6\n7;8;9;b # c\n"), read_targets),
    "lidar pose": Reader("a.yaml", text(LIDAR_POSE), read_lidar_pose),
    "pose of a cloud": Reader(
        "a.json", text(f'{{"rotation": {IDENTITY}, "translation": [1, 2, 3]}}'), read_cam_from_lidar
    ),
}
OURS = {
    "settings.yaml": Reader("a.yaml", lambda path: save_settings(SettingsFile(), path), load_settings),
    "settings.json": Reader("a.json", lambda path: save_settings(SettingsFile(), path), load_settings),
    "scene.yaml": Reader("a.yaml", text(SCENE), load_scene),
    "optics.yaml": Reader("a.yaml", lambda path: save_optics(optics_preset("r12-a-real"), path), load_optics),
    "mesh.obj": Reader("a.obj", text(OBJ), lambda path: loaded_mesh(path)),
    "mesh.ply": Reader("a.ply", mesh("ply"), lambda path: loaded_mesh(path)),
    "mesh.stl": Reader("a.stl", mesh("stl"), lambda path: loaded_mesh(path)),
    "mesh.glb": Reader("a.glb", mesh("glb"), lambda path: loaded_mesh(path)),
    "manifest": Reader("manifest.json", text(MANIFEST), _manifest),
    "record": Reader("a.json", virtual_map, lambda path: load_virtual_map(path.with_name("a.virtual.tiff"))),
    "result": Reader("a.json", result, lambda path: compare_result_files(path, path)),
    "views.json": Reader("views.json", text(VIEWS), load_views),
    "kind of file": Reader("a.json", text(MANIFEST), kind_of_file),
}
READERS: dict[str, Reader] = IMAGES | MAPS | CLOUDS | CAMERAS | TABLES | OURS


def unzipped(write: Callable[[Path], Any], path: Path) -> None:
    """The file without gzip, for changes before it is packed."""
    write(path)
    path.write_bytes(gzip.decompress(path.read_bytes()))


def loaded_mesh(path: Path) -> Any:
    from plenodepth.geometry import Pose

    return load_mesh(path, Pose(np.eye(3), np.zeros(3)))
