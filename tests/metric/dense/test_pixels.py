"""The pixels of the raw image see what the dense view does: the nearest surface on their line of sight."""

import numpy as np

from plenodepth.metric.dense.surfaces import SAME_SURFACE
from plenodepth.metric.kernels.seen_depths import find_seen_depths

RADIUS = 8.0


def seen_by(surface: np.ndarray, center: np.ndarray, places: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    seen, owner = np.full((24, 24), np.nan, np.float32), np.full((24, 24), -1, np.int32)
    find_seen_depths(
        0, len(center), center, places, inverse, surface, np.float32(RADIUS), np.float32(SAME_SURFACE), seen, owner
    )
    assert ((owner >= 0) == np.isfinite(seen)).all()
    return seen


def one_lens(inverse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A lens at (11.5, 11.5) whose pixels spread in the view with |v|, about (40.5, 40.5)."""
    spread = 0.25 / np.abs(inverse)
    places = np.stack([np.full_like(inverse, 40.5)] * 2 + [spread] * 2, axis=-1)[None]
    return np.array([[11.5, 11.5]]), places.astype(np.float32)


def walked(surface: np.ndarray, x: float, y: float, inverse: np.ndarray) -> float:
    """Where the line of a pixel first comes to the surface, in ten thousand small steps; NaN if it never does."""
    ends = sorted((inverse[0], inverse[-1]), key=abs)
    steps = np.linspace(*ends, 10_000)
    column, row = (np.floor(40.5 + offset * 0.25 / np.abs(steps)).astype(int) for offset in (x, y))
    inside = (column >= 0) & (row >= 0) & (column < surface.shape[1]) & (row < surface.shape[0])
    value = np.where(inside, surface[np.clip(row, 0, 79), np.clip(column, 0, 79)], np.nan)
    ahead = np.abs(value) - np.abs(steps)
    crossed = (ahead[:-1] > 0) & (ahead[1:] <= 0) & (np.abs(np.diff(value)) <= SAME_SURFACE)
    return float(value[1:][crossed][0]) if crossed.any() else np.nan


def test_a_pixel_sees_the_nearest_surface_on_its_line() -> None:
    row, column = np.indices((80, 80))
    for sign in (1, -1):
        surface = (0.2 + 0.0005 * column + 0.0008 * row).astype(np.float32)
        surface[:, 50:] = 0.1  # something nearer, whose outline is upright
        inverse = np.sort(sign * np.linspace(0.06, 0.45, 30)).astype(np.float32)
        center, places = one_lens(inverse)
        seen = seen_by(sign * surface, center, places, inverse)
        known = 0
        for v, u in zip(*np.nonzero(np.hypot(*(np.indices((24, 24)) - 11.5)) < RADIUS), strict=True):
            expected = walked(sign * surface, u - 11.5, v - 11.5, inverse)
            if np.isfinite(expected) and np.isfinite(seen[v, u]):
                known += 1
                # Within a pixel of the view along the slope.
                np.testing.assert_allclose(seen[v, u], expected, atol=0.002)
        assert known > 150
        assert (np.abs(seen[10:14, 17:]) < 0.11).any(), "it sees what is nearer"


def test_what_only_the_pixel_sees_past_an_outline_has_no_depth() -> None:
    """The view shows something near that hides the wall; a line that passes behind its outline meets nothing."""
    surface = np.full((80, 80), 0.3, np.float32)
    surface[:, 30:] = 0.1
    inverse = np.linspace(0.06, 0.45, 30).astype(np.float32)
    center, places = one_lens(inverse)
    seen = seen_by(surface, center, places, inverse)
    # 0.25/0.1 = 2.5 px of the view per pixel at the near surface, 0.83 at the wall: left of 30 at 0.1 and right of it
    # at 0.3 are offsets from −4.2 to −12.6 px.
    assert np.isnan(seen[12, 4:7]).all()
    np.testing.assert_allclose(seen[12, 8:18], 0.1, atol=1e-6)
