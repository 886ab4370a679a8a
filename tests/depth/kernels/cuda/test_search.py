"""The CUDA kernels find what the CPU's do: on a GPU where there is one, and emulated."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest
from emulated_cupy import RawModule, emulated_cupy
from matching import CAMERA, CAMERAS, random_image, tilted_plane

from plenodepth.camera import Camera
from plenodepth.camera.presets import shrunk
from plenodepth.depth.device import chosen_device
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.kernels.cuda.device import gpu_problem
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings import DepthSettings
from plenodepth.errors import InputError
from plenodepth.raw.image import RawImage

OFF = DepthSettings(aperture_model="off")
PER_PIXEL = DepthSettings(aperture_model="per_pixel")
VARIANTS = {
    "B": OFF,
    "D": replace(OFF, blur=False),
    "slope": DepthSettings(aperture_model="slope"),
    "s_transform": replace(OFF, equalisation="s_transform"),
    "few": replace(OFF, hypotheses=15, reach=1.1, far_reach=2.0, margin=0.0, smoothing=0.0, window=3),
    "many": replace(OFF, hypotheses=64, window=7, far_reach=3.5),
    "published": replace(OFF, first_hypothesis="same_type", weights="disparity", margin=1.5),
    "constant": replace(PER_PIXEL, weights="constant", hypotheses=21),
}

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ to emulate the GPU with")
EMULATED = pytest.param("emulated", marks=[pytest.mark.slow, needs_compiler])


@pytest.fixture(params=[EMULATED, pytest.param("gpu", marks=pytest.mark.gpu)])
def _device(request: pytest.FixtureRequest) -> Iterator[None]:
    with ExitStack() as stack:
        if request.param == "emulated":
            stack.enter_context(emulated_cupy())
        elif (problem := gpu_problem()) is not None:
            pytest.skip(str(problem))
        yield


def assert_devices_agree(image: RawImage, camera: Camera, settings: DepthSettings) -> None:
    cpu, gpu = (estimate_virtual_depth(image, camera, settings, device=device) for device in ("cpu", "cuda"))
    present, found = (np.isfinite(found.virtual_depth) for found in (cpu, gpu))
    assert present.mean() > (0.05 if settings.refined else 0.5)
    # Which of two equally good hypotheses is taken, or whether there is enough contrast, may depend on the last bit.
    assert np.mean(present != found) <= 1e-4
    both = present & found
    same = both & (np.abs(cpu.virtual_depth - gpu.virtual_depth) < 1e-3)
    assert same.sum() >= (1 - 1e-4) * both.sum()
    assert np.isclose(cpu.sigma, gpu.sigma, rtol=0.01)[same].mean() > 0.999
    assert np.allclose(cpu.cost[same], gpu.cost[same], atol=1e-5)
    assert np.array_equal(cpu.views[same], gpu.views[same])
    assert np.isclose(cpu.confidence, gpu.confidence, atol=1e-4).mean() > 0.995
    assert not gpu.confidence[~found].any()


@pytest.mark.usefixtures("_device")
@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
@pytest.mark.parametrize("name", CAMERAS)
def test_of_any_image_through_any_camera(name: str, refined: bool) -> None:
    camera = shrunk(CAMERAS[name], 6, 7) if name != "grid" else CAMERAS[name]
    assert_devices_agree(random_image(camera, seed=len(name)), camera, replace(OFF, refined=refined))


@pytest.mark.usefixtures("_device")
@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
@pytest.mark.parametrize("name", VARIANTS)
def test_with_all_kinds_of_settings(name: str, refined: bool) -> None:
    camera = shrunk(CAMERA, 9, 7)
    assert_devices_agree(tilted_plane(camera), camera, replace(VARIANTS[name], refined=refined))


@pytest.mark.usefixtures("_device")
@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
@pytest.mark.parametrize("name", ["r12-a", "columns", "keplerian"])
def test_with_the_aperture_undone(name: str, refined: bool) -> None:
    camera = shrunk(CAMERAS[name], 7, 6)
    # No pixel missing: whether one that is 0.0001 px beside counts may depend on the last bit.
    assert_devices_agree(random_image(camera, seed=7, missing=0), camera, replace(PER_PIXEL, refined=refined))


@pytest.mark.usefixtures("_device")
@pytest.mark.parametrize("settings", [OFF, replace(OFF, refined=True), PER_PIXEL, replace(PER_PIXEL, refined=True)])
def test_the_same_bytes_twice(settings: DepthSettings) -> None:
    camera = shrunk(CAMERAS["r12-c"], 6, 6)
    image = random_image(camera, seed=3)
    assert_equal(*(estimate_virtual_depth(image, camera, settings, device="cuda") for _ in range(2)))


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("settings", [OFF, replace(OFF, refined=True), PER_PIXEL, replace(PER_PIXEL, refined=True)])
def test_whichever_thread_comes_first(settings: DepthSettings) -> None:
    camera = shrunk(CAMERAS["r12-c"], 6, 6)
    image = random_image(camera, seed=3)
    with emulated_cupy():
        forwards = estimate_virtual_depth(image, camera, settings, device="cuda")
    with emulated_cupy(backwards=True):
        assert RawModule.backwards
        assert_equal(forwards, estimate_virtual_depth(image, camera, settings, device="cuda"))


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
def test_with_little_memory_in_bands_of_rows(refined: bool) -> None:
    camera = shrunk(CAMERAS["r12-a"], 5, 12)
    image, settings = random_image(camera, seed=3), replace(PER_PIXEL, refined=refined)
    with emulated_cupy():
        whole = estimate_virtual_depth(image, camera, settings, device="cuda")
    with emulated_cupy(free=16_000_000 if refined else 8_000_000):
        assert_equal(whole, estimate_virtual_depth(image, camera, settings, device="cuda"))
    with (
        emulated_cupy(free=1_000_000),
        pytest.raises(InputError, match=r"^device: the GPU has 0\.0 GB of memory free, this search needs"),
    ):
        estimate_virtual_depth(image, camera, settings, device="cuda")


@pytest.mark.slow
@needs_compiler
def test_what_is_too_much_for_shared_memory_is_refused() -> None:
    camera = CAMERAS["r12-a"]
    settings = replace(OFF, hypotheses=500, reach=8.0, far_reach=8.0)
    with emulated_cupy(), pytest.raises(InputError, match=r"^device: micro-images of \d+ px, .* shared memory"):
        estimate_virtual_depth(random_image(camera, seed=1), camera, settings, device="cuda")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (DepthSettings(search="golden"), "device: the search golden is for the CPU only (use device cpu)"),
        (DepthSettings(kernel="reference"), "device: the kernel reference is for the CPU only (use device cpu)"),
    ],
)
def test_what_only_the_cpu_can_do(settings: DepthSettings, message: str) -> None:
    with emulated_cupy():
        assert chosen_device("auto") == chosen_device("cuda") == "cuda"
        assert chosen_device("auto", settings) == chosen_device("cpu") == "cpu"
        with pytest.raises(InputError) as error:
            chosen_device("cuda", settings)
    assert str(error.value) == message


def assert_equal(one: VirtualDepthMap, other: VirtualDepthMap) -> None:
    for name in ("virtual_depth", "sigma", "confidence", "cost", "views"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
