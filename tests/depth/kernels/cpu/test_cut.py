"""Tiles are cut by the fast kernel as by plain NumPy."""

import numpy as np
import pytest
from matching import CAMERAS, random_image

from plenodepth.depth.kernels.constants import UNUSABLE
from plenodepth.depth.kernels.cpu.cut import cut
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import cut_tiles, empty_tiles, tile_cutting


@pytest.mark.parametrize("equalisation", ["mixture", "s_transform"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_tiles_are_cut_alike(equalisation: str, smoothing: float) -> None:
    camera = CAMERAS["r12-a"]
    settings = DepthSettings(equalisation=equalisation, smoothing=smoothing)  # type: ignore[arg-type]
    gray = random_image(camera, seed=1).gray
    slow, fast = cut_tiles(gray, camera, settings), empty_tiles(camera, settings)
    cut(0, len(fast.origin), gray, fast, tile_cutting(fast.reach, settings))
    used = len(fast.origin) * fast.side**2
    assert np.array_equal(slow.gray[:used] > UNUSABLE, fast.gray[:used] > UNUSABLE)
    for name in ("gray", "detail"):
        assert np.allclose(getattr(slow, name)[:used], getattr(fast, name)[:used], atol=1e-6)
