"""Ordinary raw images tell the grid of their camera: lattice, lens types and sign of virtual depth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cameras import keplerian, rearranged, with_focal_lengths
from numpy.typing import NDArray
from simulated import rendered_light

from plenodepth import grid_from_images
from plenodepth.camera import Configuration, GridCamera, PlenopticCamera, load_camera, metric_from_virtual, preset
from plenodepth.camera.model import MicroImageArray
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Pose
from plenodepth.io import read_image
from plenodepth.io.image_formats import read_images
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Material, Rectangle, Scene
from plenodepth.sim.scenes.scene_file import load_scene
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.sensor import SensorSettings, expose

HEXAGONAL = [Arrangement.HEXAGONAL_ROWS, Arrangement.HEXAGONAL_COLUMNS]
FIGURINES = Path(__file__).parents[4] / "examples" / "scenes" / "figurines.yaml"


def wall(depth: float, *, seed: int = 3, tilt: tuple[float, float] = (0, 0), width: float = 1.0) -> Scene:
    """A textured wall, `width` times its distance wide, turned about x and y by `tilt`, rad."""
    (cx, sx), (cy, sy) = ((np.cos(angle), np.sin(angle)) for angle in tilt)
    turn = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]]) @ np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    texture = noise_image(1500, 1500, octaves=6, cell=48.0, seed=seed)
    pose = Pose(turn, np.array([0, 0, depth]))
    return Scene((Rectangle(width * depth, width * depth, pose, Material(texture=texture, emits=True)),))


def shot(scene: Scene, camera: PlenopticCamera, f_number: float, rays: int = 16, **sensor: Any) -> NDArray[Any]:
    light = rendered_light(scene, camera, RenderSettings(rays=rays, f_number=f_number))
    return expose(light, SensorSettings(**{"color": False, **sensor}), None)


def distances(found: MicroImageArray, true: MicroImageArray, size: tuple[int, int]) -> NDArray[np.float64]:
    """px from micro-images all over the image to the nearest ones that were found."""
    places = np.stack(np.meshgrid(*(np.linspace(0, side - 1, 9) for side in size)), axis=-1).reshape(-1, 2)
    center = true.center(*true.lattice.nearest(true.image_from_lattice.inverse()(places)))
    nearest = found.lattice.nearest(found.image_from_lattice.inverse()(center))
    return np.asarray(np.linalg.norm(found.center(*nearest) - center, axis=-1))


def same_types(found: MicroImageArray, true: MicroImageArray) -> bool:
    """Whether both put the same micro-images into one type, whatever its number."""
    k, l = (index.ravel() for index in true.lattice.indices())
    other = found.lattice.nearest(found.image_from_lattice.inverse()(true.center(k, l)))
    pairs = set(zip(true.lens_type(k, l).tolist(), found.lens_type(*other).tolist(), strict=True))
    return len(pairs) == true.type_count == found.type_count


def assert_grid(found: GridCamera, camera: PlenopticCamera, *, largest: float, pitch: float = 1e-4) -> None:
    true = camera.micro_images
    assert found.micro_images.lattice.arrangement is true.lattice.arrangement
    assert found.micro_images.lattice.diameter == pytest.approx(true.lattice.diameter, rel=pitch)
    assert distances(found.micro_images, true, (found.width, found.height)).max() < largest


@pytest.mark.parametrize("f_number", [4.0, 2.0])
@pytest.mark.parametrize("arrangement", HEXAGONAL)
def test_one_image_of_a_wall_tells_the_grid_with_vignetting_or_without(
    arrangement: Arrangement, f_number: float
) -> None:
    camera = rearranged(arrangement, 40, 36)
    found = grid_from_images([shot(wall(900), camera, f_number)])
    share = {4.0: 2e-4, 2.0: 6e-4}[f_number]  # without vignetting 1440 micro-images tell no more
    assert_grid(found, camera, largest=600 * share, pitch=share)
    assert same_types(found.micro_images, camera.micro_images)
    assert found.configuration is Configuration.GALILEAN
    assert len(found.provenance.notes) == 3


def test_a_square_array_is_told_from_a_hexagonal_one() -> None:
    camera = with_focal_lengths(rearranged(Arrangement.ORTHOGONAL, 36, 36), [0.57])
    found = grid_from_images([shot(wall(900), camera, 4.0)])
    assert_grid(found, camera, largest=0.2, pitch=3e-4)
    assert found.micro_images.type_count == 1


def test_lenses_of_one_type_are_called_so() -> None:
    camera = with_focal_lengths(rearranged(Arrangement.HEXAGONAL_ROWS, 40, 36), [0.57])
    assert grid_from_images([shot(wall(900), camera, 2.8)]).micro_images.type_count == 1


def test_a_mosaic_of_colour_filters_will_do() -> None:
    camera = rearranged(Arrangement.HEXAGONAL_ROWS, 40, 36)
    found = grid_from_images([shot(wall(900), camera, 4.0, bayer="GRBG", color=True)])
    assert_grid(found, camera, largest=0.2, pitch=3e-4)


def test_several_images_tell_more_than_one() -> None:
    camera = rearranged(Arrangement.HEXAGONAL_ROWS, 40, 36)
    images = [shot(wall(900, seed=seed), camera, 2.0) for seed in (3, 4, 5)]
    one, all_ = (grid_from_images(chosen).provenance.residuals["corner_error"] for chosen in (images[:1], images))
    assert all_ < 0.8 * one


def test_images_of_a_keplerian_camera_tell_their_sign() -> None:
    camera = keplerian()
    scene = wall(float(metric_from_virtual(-6.0, camera)))
    assert grid_from_images([shot(scene, camera, 4.0)]).configuration is Configuration.KEPLERIAN


@pytest.mark.parametrize("kind", ["noise", "flat", "photo", "stripes"])
def test_an_image_without_micro_images_is_refused_in_one_line(kind: str) -> None:
    random = np.random.default_rng(0)
    image = {
        "noise": random.normal(0.5, 0.1, (700, 900)),
        "flat": np.full((700, 900), 0.5),
        "photo": noise_image(900, 700, octaves=7, cell=120.0, seed=1).pixels[..., 0],
        "stripes": 0.5 + 0.4 * np.sin(np.arange(900) / 3.3) + random.normal(0, 0.02, (700, 900)),
    }[kind]
    with pytest.raises(InputError, match="shows no micro-images") as error:
        grid_from_images([image.astype(np.float32)], name="photo.png")
    assert str(error.value).startswith("photo.png: ")
    assert "\n" not in str(error.value)


def test_images_of_two_sizes_and_no_image_are_refused() -> None:
    with pytest.raises(InputError, match="one camera"):
        grid_from_images([np.ones((300, 400)), np.ones((400, 400))])
    with pytest.raises(InputError, match="none"):
        grid_from_images([])


def scenes_for(camera: PlenopticCamera) -> dict[str, Scene]:
    near = {"r12-a": 300.0, "r12-b": 600.0}.get(camera.name, 900.0)
    wide = 3.0 if camera.name == "upc-s" else 1.0
    return {
        "wall": wall(near, width=wide),
        "tilted": wall(near, seed=5, tilt=(0.4, 0.5), width=wide / 2),
        "figurines": load_scene(FIGURINES),
    }


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["wall", "tilted", "figurines"])
@pytest.mark.parametrize("f_number", [4.0, 2.0])
@pytest.mark.parametrize("name", ["r12-a", "r12-b", "r12-c", "r12-e", "r12-es", "upc-s"])
def test_a_full_image_tells_the_grid_to_a_tenth_of_a_pixel(name: str, f_number: float, scene: str) -> None:
    camera = preset(name)
    found = grid_from_images([shot(scenes_for(camera)[scene], camera, f_number, rays=6)])
    assert_grid(found, camera, largest=0.1)
    assert same_types(found.micro_images, camera.micro_images)
    if scene != "figurines":  # some cameras see a part of them on either side of v = ∞
        assert found.configuration is Configuration.GALILEAN


@pytest.mark.slow
@pytest.mark.realdata
def test_a_frame_of_a_real_camera_tells_the_vendors_grid(real_data: Path) -> None:
    vendor = load_camera(real_data / "r5" / "fujita2-calib.xml", image_size=(2048, 2048))
    found = grid_from_images([read_image(real_data / "r5" / "fujita2-frame0.png")])
    assert found.micro_images.lattice.arrangement is vendor.micro_images.lattice.arrangement
    assert distances(found.micro_images, vendor.micro_images, (2048, 2048)).max() < 0.2
    assert same_types(found.micro_images, vendor.micro_images)
    assert found.configuration is Configuration.GALILEAN


@pytest.mark.slow
@pytest.mark.realdata
def test_four_frames_of_a_real_camera_tell_the_vendors_grid_to_a_tenth_of_a_pixel(real_data: Path) -> None:
    pytest.importorskip("av")
    vendor = load_camera(real_data / "r5" / "fujita2-calib.xml", image_size=(2048, 2048))
    frames = read_images(real_data / "r5" / "fujita2.vvc", frames=slice(0, 300, 75))
    found = grid_from_images([frame.pixels for frame in frames])
    farthest = distances(found.micro_images, vendor.micro_images, (2048, 2048)).max()
    assert farthest < 0.1
    assert farthest < 3 * found.provenance.residuals["corner_error"]
