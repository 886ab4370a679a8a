"""What a search needs of a camera and its settings, on the device: uploaded once, for all images."""

from __future__ import annotations

import math
from collections import OrderedDict
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import ApertureModel
from plenodepth.depth.aperture.resampling import ResamplingTables, plan_resampling
from plenodepth.depth.kernels.constants import FINE_PLACES, FIRST_STEP
from plenodepth.depth.kernels.cuda.device import FIELD, Gpu, cupy, free_bytes, gpu
from plenodepth.depth.kernels.cuda.sources import Compared, Shapes, packed
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import Tiles, empty_tiles, smoothing_of, tile_cutting
from plenodepth.depth.views import Views, plan_views
from plenodepth.errors import InputError

Camera = PlenopticCamera | GridCamera

KEPT_PLANS = 2
COARSE_THREADS = 128
MOST_THREADS = 256  # of a block of the refined search
PIXELS_OF_THREAD = 2  # see refined.cu
TOGETHER = 2  # hypotheses between two barriers of the refined search, if there is room
PAIR_BYTES = 80
LARGEST_INDEX = 2**31 - 2**20  # kernels count the pixels of compared tiles in 32 bits
MEMORY_SHARE = 0.8  # of what is free may be used


class Plan:
    """The tables of a camera and settings, on the host and on the device."""

    def __init__(self, camera: Camera, settings: DepthSettings, noise: float, model: ApertureModel) -> None:
        self.camera = camera  # kept, so that nothing else gets its id
        self.tiles: Tiles = empty_tiles(camera, settings, model)
        self.views: Views = plan_views(camera, settings, noise, model)
        self.tables: ResamplingTables = plan_resampling(
            self.tiles, self.views, camera, model, smoothing_of(settings, model)
        )
        cutting = tile_cutting(self.tiles.reach, settings)
        self._uploaded: dict[int, tuple[Any, Any]] = {}
        self.shapes = Shapes(
            self.views.step_k.shape[1],
            len(self.views.blur_slope),
            len(self.views.inverse_depths),
            self.tables.pixel_from_ray.shape[2],
        )
        self.smoothing, self.mixture = self.upload(cutting.smoothing), self.upload(cutting.mixture)
        self.views_argument = packed(self.views, self.address)
        self.tables_argument = packed(self.tables, self.address)
        self.shapes_argument = packed(self.shapes, self.address)
        self._wanted: dict[tuple[int, tuple[int, ...]], Any] = {}
        require_shared(self)

    # --- sizes ------------------------------------------------------------------------------------------------------

    @property
    def lenses(self) -> int:
        """All micro-images."""
        return len(self.tiles.origin)

    @property
    def size(self) -> int:
        """Pixels of a tile."""
        return self.tiles.side**2

    @property
    def planes(self) -> int:
        """Planes that tiles are resampled for; 1: they are not."""
        return int(self.tables.radius.shape[1])

    @property
    def resampled(self) -> bool:
        """Whether tiles are resampled before they are compared."""
        return self.planes > 1

    @property
    def tasks(self) -> int:
        """Pairs that a block of the coarse search compares in one go, at most."""
        every_second = -(-self.shapes.hypotheses // FIRST_STEP)
        return max(every_second * self.views.swept, FINE_PLACES * self.shapes.neighbours)

    @property
    def coarse_shared(self) -> int:
        """Bytes of shared memory of a block of the coarse search."""
        return PAIR_BYTES * COARSE_THREADS + 12 * self.tasks + 12 * self.shapes.hypotheses

    def refined_shared(self, together: int) -> int:
        """Bytes of shared memory of a block of the refined search; see `Windows` in refined.cu."""
        planes = 2 * together + max(2 * together, 3)
        numbers = planes * self.size + 3 * self.shapes.hypotheses + together
        return PAIR_BYTES * together * self.shapes.neighbours + 4 * numbers + 5 * self.size

    @property
    def together(self) -> int:
        """Hypotheses that the refined search takes at a time: one if four blocks would not find room otherwise."""
        return TOGETHER if 4 * self.refined_shared(TOGETHER) <= gpu().shared_of_multiprocessor else 1

    @property
    def refined_threads(self) -> int:
        """Threads of a block of the refined search: so many that no pixel is left for a last round of few."""
        parts = math.pi * (float(self.tiles.radius) + 0.5) ** 2 / PIXELS_OF_THREAD
        rounds = math.ceil(parts / MOST_THREADS)
        return min(max(32 * math.ceil(parts / rounds / 32), 64), MOST_THREADS)

    @property
    def bytes_of_volume(self) -> int:
        """Bytes of global memory in which a block of the refined search keeps costs."""
        return 8 * self.shapes.hypotheses * self.size

    # --- arguments of kernels ---------------------------------------------------------------------------------------

    def upload(self, array: Any) -> Any:
        """An array of the host on the device; kept there."""
        found = self._uploaded.get(id(array))
        if found is None:
            found = self._uploaded[id(array)] = (array, cupy().asarray(np.ascontiguousarray(array)))
        return found[1]

    def address(self, array: Any) -> int:
        """Where an array is on the device, once it is uploaded; an array of CuPy's is there already."""
        return address_of(array if isinstance(array, cupy().ndarray) else self.upload(array))

    def tiles_argument(self, gray: Any, detail: Any) -> Any:
        """The tiles, with their pixels on the device."""
        return packed(self.tiles._replace(gray=gray, detail=detail), self.address)

    def compared_argument(self, gray: Any, detail: Any, first_row: int = 0) -> Any:
        """Tiles as they are compared."""
        return packed(Compared(gray, detail, self.planes, first_row), self.address)

    def wanted_at_first(self, lenses: int, planes: NDArray[np.integer]) -> Any:
        """Which tiles are resampled at first (lenses, planes): all of them, for the given planes; see resample.cu."""
        key = lenses, tuple(int(plane) for plane in planes)
        if key not in self._wanted:
            wanted = np.zeros((lenses, self.planes), np.uint8)
            wanted[:, planes] = 1
            self._wanted[key] = cupy().asarray(wanted)
        wanted = cupy().empty((lenses, self.planes), np.uint8)
        wanted.data.copy_from_device_async(self._wanted[key].data, wanted.nbytes)
        return wanted

    # --- bands of rows ----------------------------------------------------------------------------------------------

    def bands(self, taken: int) -> list[tuple[int, int]]:
        """Bands of rows of micro-images (first, last + 1) whose resampled tiles fit beside `taken` bytes.

        A band resamples the rows of its neighbours, too; so there is one band if memory allows.
        """
        rows = self.views.rows
        of_row = self.views.columns * self.planes * self.size * 8  # bytes, gray and detail
        free = MEMORY_SHARE * free_bytes() - taken
        if not self.resampled:
            require_memory(free >= 0, taken)
            return [(0, rows)]
        most = int(min(free / of_row, LARGEST_INDEX / (of_row / 8)))
        if most >= rows:
            return [(0, rows)]
        at_a_time = most - 2 * self.views.halo
        require_memory(at_a_time >= 1, taken + (2 * self.views.halo + 1) * of_row)
        return [(first, min(first + at_a_time, rows)) for first in range(0, rows, at_a_time)]

    def rows_of(self, band: tuple[int, int]) -> tuple[int, int]:
        """The rows that a band compares: its own and those of all neighbours."""
        return max(band[0] - self.views.halo, 0), min(band[1] + self.views.halo, self.views.rows)


def address_of(array: Any) -> int:
    """Where an array of CuPy's lies on the device."""
    return int(array.data.ptr)


def require_memory(fits: bool, needed: float) -> None:
    """An `InputError` if a search does not fit into the GPU's memory."""
    if not fits:
        raise InputError(
            f"the GPU has {free_bytes() / 1e9:.1f} GB of memory free, this search needs {needed / 1e9:.1f} GB",
            field=FIELD,
            fix="use device cpu",
        )


def require_shared(plan: Plan) -> None:
    """An `InputError` if what a block computes in does not fit into a multiprocessor's own memory."""
    room: Gpu = gpu()
    tiles = 4 * 4 * plan.size  # of cut_tiles; resample_tiles needs less
    needed = max(tiles, plan.refined_shared(1) if plan.views.refined else plan.coarse_shared)
    if needed > room.shared_of_block:
        raise InputError(
            f"micro-images of {plan.tiles.side} px, {plan.shapes.neighbours} neighbours and {plan.shapes.hypotheses} "
            f"hypotheses need {needed // 1024} kB of the GPU's shared memory, which has {room.shared_of_block // 1024}",
            field=FIELD,
            fix="use device cpu",
        )


class Plans:
    """The plans used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, Plan] = OrderedDict()
        self._lock = Lock()

    def get(self, camera: Camera, settings: DepthSettings, noise: float, model: ApertureModel) -> Plan:
        """The plan of a camera and settings, made unless it is kept."""
        key = (id(camera), settings, noise, model)
        with self._lock:
            plan = self._kept.pop(key, None) or Plan(camera, settings, noise, model)
            self._kept[key] = plan
            while len(self._kept) > KEPT_PLANS:
                self._kept.popitem(last=False)
            return plan

    def clear(self) -> None:
        """Forget all plans."""
        with self._lock:
            self._kept.clear()


PLANS = Plans()
