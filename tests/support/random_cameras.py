"""Hypothesis strategies for valid cameras: presets with every number changed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from plenodepth.camera import (
    Configuration,
    Distortion,
    GridCamera,
    MainLens,
    PlenopticCamera,
    Provenance,
    WhiteRadius,
    preset,
)
from plenodepth.geometry import PlanarPose, Pose

BASES = ("r12-mini", "r12-b", "r12-a-pinhole", "upc-s")

base = cache(preset)
finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(1e-6, 1e6)
small = st.floats(-1e-3, 1e-3)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def vectors(elements: st.SearchStrategy[float], size: int) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    return st.lists(elements, min_size=size, max_size=size).map(lambda values: np.array(values, dtype=np.float64))


@st.composite
def provenances(draw: st.DrawFn) -> Provenance:
    names = tuple(draw(st.lists(texts, max_size=3)))
    half = np.array(draw(st.lists(vectors(st.floats(-1e9, 1e9), len(names)), min_size=len(names), max_size=len(names))))
    return Provenance(
        source=draw(texts),
        notes=tuple(draw(st.lists(texts, max_size=3))),
        residuals=draw(st.dictionaries(texts, finite, max_size=3)),
        covariance_parameters=names,
        covariance=half + half.T if names else None,
    )


@st.composite
def plenoptic_cameras(draw: st.DrawFn) -> PlenopticCamera:
    camera = base(draw(st.sampled_from(BASES)))
    sensor, grid, lenses = camera.sensor, camera.micro_images, camera.micro_lenses
    near_one = st.floats(0.99, 1.01)
    turn = Pose.from_rotation_vector(draw(vectors(small, 3)))
    pose = lenses.cam_from_mla
    return replace(
        camera,
        name=draw(texts),
        sensor=replace(
            sensor,
            pixel_size=sensor.pixel_size * draw(near_one),
            position=sensor.position + [*draw(vectors(small, 2)), 0],
        ),
        main_lens=MainLens(draw(positive), draw(st.none() | positive)),
        micro_images=replace(
            grid,
            lattice=replace(grid.lattice, pitch=grid.lattice.pitch * draw(near_one)),
            image_from_lattice=PlanarPose(draw(small), grid.image_from_lattice.translation + draw(vectors(small, 2))),
        ),
        micro_lenses=replace(
            lenses,
            pitch=lenses.pitch * draw(near_one),
            cam_from_mla=Pose(turn.rotation, pose.translation + [*draw(vectors(small, 2)), 0]),
            focal_lengths=lenses.focal_lengths * draw(near_one),
        ),
        distortion=draw(distortions()),
        inverse_distortion=draw(st.none() | distortions()),
        depth_scale=draw(st.none() | vectors(finite, 3)),
        blur_coefficient=draw(st.none() | positive),
        focus_distance=draw(st.none() | positive | st.just(np.inf)),
        white_radius=draw(st.none() | st.builds(WhiteRadius, finite, vectors(finite, camera.type_count))),
        provenance=draw(provenances()),
    )


def distortions() -> st.SearchStrategy[Distortion]:
    return st.builds(Distortion, vectors(finite, 3), vectors(finite, 2))


@st.composite
def grid_cameras(draw: st.DrawFn) -> GridCamera:
    camera = base("r12-mini")
    low = draw(vectors(st.floats(0, 10), 3))
    return GridCamera(
        name=draw(texts),
        width=camera.sensor.width,
        height=camera.sensor.height,
        micro_images=camera.micro_images,
        virtual_depth_ranges=np.stack([low, low + draw(vectors(positive, 3))], axis=1),
        provenance=draw(provenances()),
        configuration=draw(st.none() | st.sampled_from(Configuration)),
    )
