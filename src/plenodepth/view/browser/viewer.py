"""The page: a scene with points, a picture or the camera, and panels to its left and right."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from plenodepth.errors import PlenodepthError
from plenodepth.view.browser.camera_scene import add_camera, add_truth
from plenodepth.view.browser.clouds import ShownCloud
from plenodepth.view.browser.coloring import color_bar, color_ends, colors_of
from plenodepth.view.browser.controls import Controls
from plenodepth.view.browser.frames import Frame
from plenodepth.view.browser.instrument import Instrument, shown_light
from plenodepth.view.browser.latest import LatestOnly
from plenodepth.view.browser.picked_panel import Details, Picked, PickedPanel
from plenodepth.view.browser.picker import Picker
from plenodepth.view.browser.picture_pane import PicturePane
from plenodepth.view.browser.probe import Probe, curves_of, surroundings
from plenodepth.view.browser.rays import point_on_ray
from plenodepth.view.browser.saving import add_save_buttons
from plenodepth.view.browser.selection import DRAWN_POINTS, Selection, select
from plenodepth.view.browser.truth import Truth, error_sentence, with_error

if TYPE_CHECKING:
    import viser

POINT = 2.5  # side of a drawn point, of the cloud's radius over the square root of their number
TOWARDS_EYE = np.array([0.29, -0.24, -0.93])  # from the middle of the cloud
FIELD = np.radians(45)  # of view, of the browser's eye
RADIUS = 0.9  # quantile of the distances from the cloud's middle
FIRST_PICTURE = 150_000  # points that a page gets at first: it draws them in a moment
PATIENCE = 20.0  # s, with a page that draws the first picture
SAMPLE = 100_000  # points tell middle and radius
RAW, VIEW = "raw image", "all-in-focus view"


class Viewer:
    """The page of some frames. It shows the first one; the rest is up to the user."""

    def __init__(
        self,
        server: viser.ViserServer,
        frames: Sequence[Frame],
        *,
        instrument: Instrument | None = None,
        truth: Truth | None = None,
        most_points: int = DRAWN_POINTS,
        notes: Sequence[str] = (),
    ) -> None:
        self.server, self.frames, self.instrument, self.truth = server, frames, instrument, truth
        self.most_points, self.notes = most_points, notes
        self._load(frames[0], next(iter(frames[0].clouds)))
        # One unit of the scene is the distance of the first cloud's middle: the browser's near and far planes fit it.
        sample = self.cloud.points[:: max(1, len(self.cloud) // SAMPLE)]
        middle = np.median(sample, axis=0)
        self.unit = float(middle[2])
        radius = max(float(np.quantile(np.linalg.norm(sample - middle, axis=1), RADIUS)) / self.unit, 1e-3)
        self._point_size = POINT * radius / np.sqrt(min(len(self.cloud), most_points))
        self._look_at(middle / self.unit, radius)
        self._lock = threading.RLock()
        self.pane, self.picker = PicturePane(server), Picker(instrument)
        self.controls = Controls(server.gui, frames, self._shows(self.frame), self.cloud)
        details = self._details if instrument is not None and instrument.has_images else None
        self.picked = PickedPanel(server, details, self.scene_from_points)
        self._camera: list[Any] = []
        if instrument is not None and instrument.lenses is not None and self.cloud.metric:
            self.controls.add_checkbox("camera and lens array", True, self._show_camera)
            self._show_camera(True)
        if truth is not None:
            self._truth = add_truth(server, self.scene_from_points(truth.points), self._point_size)
            self.controls.add_checkbox("truth", False, lambda wanted: setattr(self._truth, "visible", wanted))
        add_save_buttons(server.gui, lambda: self.frame.name, self._all_within_limits, self._note)
        self.selection: Selection
        self.part: ShownCloud  # the points that are drawn
        self._draw(min(FIRST_PICTURE, most_points))
        self._drawing, self._changing = LatestOnly(self._draw), LatestOnly(self._change_source)
        server.on_client_connect(self._draw_the_rest)
        self.controls.on_change(self._changing.ask, self._drawing.ask, self._resize)
        server.scene.on_click()(lambda event: self._clicked(event.ray_origin, event.ray_direction))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for work in (self._drawing, self._changing, self.picked):
            work.close()

    def scene_from_points(self, points: NDArray[Any]) -> NDArray[np.float32]:
        """Places (n, 3) in the scene of points in mm (of a relief: px)."""
        return np.asarray(points / np.float32(self.unit), np.float32)

    def _load(self, frame: Frame, label: str) -> None:
        """Read a cloud of a frame, and compare it with the truth."""
        cloud = frame.clouds[label]()
        self.cloud: ShownCloud = cloud if self.truth is None else with_error(cloud, self.truth)
        self.frame, self._label = frame, label

    def _look_at(self, middle: NDArray[Any], radius: float) -> None:
        self.server.scene.set_up_direction("-y")
        camera = self.server.initial_camera
        camera.position = middle + TOWARDS_EYE * 0.8 * radius / np.tan(FIELD / 2)
        camera.look_at, camera.fov, camera.near = middle, float(FIELD), 1e-3

    def _shows(self, frame: Frame) -> list[str]:
        """What of a frame can be shown: its clouds, then pictures."""
        raw = [RAW] if self.instrument is not None and self.instrument.has_images else []
        return [*frame.clouds, *([VIEW] if frame.view is not None else []), *raw]

    def _show_camera(self, wanted: bool) -> None:
        for handle in self._camera:
            handle.remove()
        view = None if self.frame.view is None else self.frame.view()[::2, ::2]
        self._camera = add_camera(self.server, self.instrument, self.unit, view) if wanted and self.instrument else []

    def _change_source(self) -> None:
        """Another frame, another cloud of it, or a picture in its place."""
        with self._lock:
            frame = self.frames[self.controls.frame]
            self.controls.offer(self._shows(frame))
            wanted = self.controls.show
            try:
                if frame is not self.frame or (wanted in frame.clouds and wanted != self._label):
                    other = frame is not self.frame
                    self._load(frame, wanted if wanted in frame.clouds else next(iter(frame.clouds)))
                    self.controls.fit(self.cloud)
                    if other and self._camera:
                        self._show_camera(True)  # with the picture of this frame
                self._show_picture(wanted)
            except PlenodepthError as error:
                self._note(str(error))
                return
            self._draw()

    def _show_picture(self, wanted: str) -> None:
        picture = None
        if wanted == VIEW and self.frame.view is not None:
            picture = self.frame.view()
        elif wanted == RAW and self.instrument is not None:
            self._note("reading the raw image …")
            image = self.instrument.image(self.frame.name)
            picture = None if image is None else shown_light(image)
            if picture is None:
                self._note("There is no raw image of this frame.")
        if picture is None:
            self.pane.hide()
        else:
            self.pane.show(picture)
        for handle in self._camera:
            handle.visible = picture is None
        self.picked.draw_marks(visible=picture is None)

    def _draw_the_rest(self, client: viser.ClientHandle) -> None:
        """All points that may be drawn, once a page has shown the first of them: it hands a picture back."""
        if self.selection.level and len(self.selection.index) <= FIRST_PICTURE < self.most_points:
            with suppress(TimeoutError, RuntimeError):  # a page that is closed or hidden is not waited for
                client.get_render(16, 16, timeout=PATIENCE)
            self._drawing.ask()

    def _draw(self, most: int | None = None) -> None:
        with self._lock:
            cloud, kind = self.cloud, self.controls.color
            self.selection = select(cloud, self.controls.limits, most or self.most_points)
            self.part = cloud if len(self.selection.index) == len(cloud) else cloud.part(self.selection.index)
            ends = color_ends(cloud, kind)
            self.points = self.server.scene.add_point_cloud(
                "/cloud",
                self.scene_from_points(self.part.points),
                colors_of(self.part, kind, ends),
                point_size=self._point_size * self.controls.size,
                precision="float32",
                point_shading="flat",
                visible=not self.pane.shown,
            )
            self._note("", color_bar(kind, cloud.metric, ends))

    def _note(self, text: str, bar: str | None = None) -> None:
        lines = [f"**{self.frame.name}**", self.selection.sentence, error_sentence(self.cloud)]
        lines += [*self.frame.notes, *self.notes, text]
        self.controls.say("\n\n".join(line for line in lines if line), bar)

    def _resize(self) -> None:
        self.points.point_size = self._point_size * self.controls.size

    def _all_within_limits(self) -> ShownCloud:
        with self._lock:
            return self.cloud.part(select(self.cloud, self.controls.limits, len(self.cloud)).index)

    def _clicked(self, origin: tuple[float, float, float], direction: tuple[float, float, float]) -> None:
        with self._lock:
            found: Picked | None = None
            try:
                if not self.pane.shown:
                    index = point_on_ray(self.part.points, np.array(origin) * self.unit, direction)
                    found = None if index is None else self.picker.from_cloud(self.part, index, self.frame)
                elif (place := self.pane.pixel(origin, direction)) is not None:
                    found = self._picked_on_picture(place)
            except PlenodepthError as error:
                self._note(str(error))
        if found is not None:
            self.picked.pick(found, marked=not self.pane.shown)

    def _picked_on_picture(self, place: tuple[float, float]) -> Picked | None:
        if self.controls.show == VIEW:
            self.pane.mark(place, 4.0)
            return self.picker.from_view(place, self.pane.size, self.cloud, self.frame)
        found = self.picker.from_raw(place, self.frame)
        if found is not None and found.probe is not None and self.instrument is not None:
            self.pane.mark(found.probe.center, self.instrument.camera.micro_images.radius)
        return found

    def _details(self, probe: Probe) -> Details | None:
        """The curves and neighbours of a micro-image; None where the frame has no raw image."""
        from plenodepth.view.browser.neighbourhood import neighbourhood_picture, neighbours_of

        frame, instrument = self.frame, self.instrument
        image = None if instrument is None else instrument.image(frame.name)
        if image is None or instrument is None:
            return None
        near, settings = surroundings(image, instrument.camera, probe.k, probe.l), frame.settings()
        neighbours = neighbours_of(near, settings)
        shift = probe.k - near.k, probe.l - near.l
        first = ", ".join(f"({k + shift[0]}, {l + shift[1]})" for k, l in neighbours.first)
        text = f"Compared with {first} first, and with {len(neighbours.later)} more that are farther away."
        curves = curves_of(near, settings, self.picker.model(frame))
        return Details(curves, neighbourhood_picture(near, neighbours), text)
