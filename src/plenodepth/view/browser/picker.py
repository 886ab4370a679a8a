"""From a click to a place: of the cloud, of the raw image, or of the all-in-focus view."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plenodepth.camera import PlenopticCamera
from plenodepth.camera.model import ApertureModel, image_size
from plenodepth.view.browser.clouds import ShownCloud
from plenodepth.view.browser.frames import Frame
from plenodepth.view.browser.instrument import Instrument
from plenodepth.view.browser.picked_panel import Picked
from plenodepth.view.browser.probe import FrameMaps, Probe, pixel_of_point, probe_pixel
from plenodepth.view.browser.rays import point_on_ray


class Picker:
    """Places of frames. Without an instrument, all that is known of a place is its point."""

    def __init__(self, instrument: Instrument | None) -> None:
        self._instrument = instrument
        self._maps: tuple[Frame | None, FrameMaps | None] = (None, None)  # of the last frame

    def maps(self, frame: Frame) -> FrameMaps | None:
        """The maps of a frame, read once; None where it has none, or where the camera is not theirs."""
        if self._maps[0] is not frame:
            self._maps = (frame, None if frame.maps is None else frame.maps())
        maps = self._maps[1]
        if maps is None or self._instrument is None:
            return maps
        camera = self._instrument.camera
        lattice, (width, height) = camera.micro_images.lattice, image_size(camera)
        return maps if maps.depth.shape in ((lattice.rows, lattice.columns), (height, width)) else None

    def model(self, frame: Frame) -> ApertureModel:
        """The aperture model by which the frame's depths were found."""
        maps = self.maps(frame)
        return "off" if maps is None else maps.aperture_model

    def from_cloud(self, cloud: ShownCloud, index: int, frame: Frame) -> Picked:
        """A point of a cloud, and the pixel that shows it."""
        x, y, z = (float(value) for value in cloud.points[index])
        sigma, confidence = (
            float(values[index]) if values is not None and np.isfinite(values[index]) else None
            for values in (cloud.sigma, cloud.confidence)
        )
        virtual = None if cloud.metric else float(cloud.depth[index])
        probe = self._probe_of_point((x, y, z), cloud, frame)
        return Picked((x, y, z), sigma, confidence, cloud.metric, probe, virtual)

    def from_raw(self, uv: tuple[float, float], frame: Frame) -> Picked | None:
        """A pixel of the raw image, and the point that it shows; None beside the lens array."""
        if self._instrument is None:
            return None
        probe = probe_pixel(uv, self._instrument.camera, self.maps(frame))
        if probe is None:
            return None
        metric = isinstance(self._instrument.camera, PlenopticCamera)
        return Picked(probe.point, probe.sigma if metric else None, probe.confidence, metric, probe)

    def from_view(
        self, xy: tuple[float, float], size: tuple[int, int], cloud: ShownCloud, frame: Frame
    ) -> Picked | None:
        """A pixel of the all-in-focus view, and the nearest point of the cloud that lies behind it."""
        uv = None if self._instrument is None else _raw_place(xy, size, image_size(self._instrument.camera))
        if not cloud.metric:  # of a relief, pixels are the points
            ray = np.array([xy[0] - size[0] / 2, xy[1] - size[1] / 2, 0.0]), np.array([0.0, 0.0, 1.0])
        elif self._instrument is not None and isinstance(self._instrument.camera, PlenopticCamera):
            camera = self._instrument.camera
            on_sensor = camera.sensor.metric_from_image(np.array(uv))
            ray = np.zeros(3), np.array([*(-on_sensor / camera.main_lens.focal_length), 1.0])
        else:
            return None
        index = point_on_ray(cloud.points, *ray)
        if index is not None:
            return self.from_cloud(cloud, index, frame)
        return None if uv is None else self.from_raw(uv, frame)

    def _probe_of_point(self, point: tuple[float, float, float], cloud: ShownCloud, frame: Frame) -> Probe | None:
        if self._instrument is None:
            return None
        optics = self._instrument.optics(self.model(frame))
        if cloud.metric and optics is not None:
            uv = pixel_of_point(point, optics)
        elif not cloud.metric and cloud.shape is not None:
            height, width = cloud.shape
            xy = point[0] + width / 2, point[1] + height / 2
            uv = _raw_place(xy, (width, height), image_size(self._instrument.camera))
        else:
            return None
        probe = None if uv is None else probe_pixel(uv, self._instrument.camera, self.maps(frame))
        # The point is that of the cloud: the dense view may know better than the micro-image alone.
        return None if probe is None else replace(probe, point=None)


def _raw_place(xy: tuple[float, float], size: tuple[int, int], raw: tuple[int, int]) -> tuple[float, float]:
    """The place on the raw image of a pixel of the view, whose pixels are a whole number of its pixels wide."""
    scale = max(1, raw[0] // size[0])
    return scale * xy[0] + (scale - 1) / 2, scale * xy[1] + (scale - 1) / 2
