"""The viewer in a real browser, Debian's chromium, which Playwright drives. One page serves all tests."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image
from shown_results import real_result, small_camera

from plenodepth.io import read_ply
from plenodepth.view.browser.measure import measured_distance

pytest.importorskip("viser", reason="no viser: pip install plenodepth[view]")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed"),
]
sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright to drive a browser")

SOFTWARE_GL = ["--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
ALONE = [
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
WIDTH, HEIGHT = 1400, 900
PATIENCE = 60_000.0  # ms; software draws slowly on a busy machine
GROUND = 40  # brightness, of 255, that the empty scene does not reach


@dataclass
class Opened:
    """The page, and what it has asked for and complained about."""

    page: Any
    hosts: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)

    def text(self) -> str:
        return str(self.page.inner_text("body"))

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The first match of a pattern in the page's text, as soon as there is one."""
        end = time.monotonic() + PATIENCE / 1000
        while time.monotonic() < end:
            found = re.search(pattern, self.text())
            if found:
                return found
            self.page.wait_for_timeout(200)
        raise AssertionError(f"'{pattern}' does not appear in: {self.text()}")

    def scene(self) -> np.ndarray:
        """The pixels (h, w) between the panels, as brightness."""
        picture = Image.open(io.BytesIO(self.page.screenshot(timeout=PATIENCE))).convert("L")
        return np.asarray(picture)[150:850, 360:980]

    def wait_for_scene(self, least: float) -> float:
        """The part of the scene that is not empty, once it is at least so large."""
        end, part = time.monotonic() + PATIENCE / 1000, 0.0
        while time.monotonic() < end:
            part = float((self.scene() > GROUND).mean())
            if part >= least:
                return part
            self.page.wait_for_timeout(300)
        raise AssertionError(f"only {100 * part:.1f} % of the scene are drawn")

    def show(self, what: str) -> None:
        box = self.page.get_by_role("combobox", name="show")
        if box.input_value() != what:
            box.click()
            self.page.get_by_role("option", name=what, exact=True).click()
            self.page.wait_for_timeout(1500)

    def middle(self) -> tuple[float, float]:
        """The middle of the canvas."""
        box = self.page.locator("canvas").first.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def click(self, right: float = 0, down: float = 0) -> None:
        x, y = self.middle()
        self.page.mouse.click(x + right, y + down)


@pytest.fixture(scope="module")
def opened() -> Iterator[Opened]:
    files = real_result()
    command = [
        sys.executable,
        "-c",
        "from plenodepth.cli import main; main()",
        "view",
        str(files.folder),
        *files.options,
    ]
    environment = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    with (
        subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True, env=environment) as viewer,
        sync_api.sync_playwright() as playwright,
    ):
        assert viewer.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", viewer.stdout.readline())
        assert found is not None
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=["--no-sandbox", *SOFTWARE_GL, *ALONE], env=environment
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, accept_downloads=True)
        shown = Opened(page)
        page.on("request", lambda request: shown.hosts.add(urlsplit(request.url).hostname or ""))
        page.on("websocket", lambda socket: shown.hosts.add(urlsplit(socket.url).hostname or ""))
        page.on("console", lambda line: shown.errors.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: shown.errors.append(str(error)))
        page.goto(found[0])
        page.wait_for_selector("canvas", timeout=PATIENCE)
        shown.wait_for(r"points are within the limits")
        yield shown
        browser.close()
        viewer.send_signal(signal.SIGINT)
        viewer.communicate(timeout=20)
        assert viewer.returncode == 0


def test_the_cloud_is_seen(opened: Opened) -> None:
    opened.show("dense view")
    assert opened.wait_for_scene(0.05) < 0.98
    assert opened.scene().std() > 10


def test_the_confidence_slider_leaves_points_out(opened: Opened) -> None:
    opened.show("dense view")
    before = opened.wait_for(r"([\d,]+) of ([\d,]+) points are within")
    assert before[1] == before[2]
    slider = opened.page.get_by_role("slider").first
    box = slider.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x + 150, y, steps=5)
    opened.page.mouse.up()
    opened.page.wait_for_timeout(500)
    least = np.float32(slider.get_attribute("aria-valuenow"))
    assert least > 0.5
    cloud = read_ply(real_result().folder / "raw.dense.ply")
    expected = np.count_nonzero(cloud["confidence"] >= least)
    assert 0 < expected < len(cloud["points"])
    opened.wait_for(rf"\b{expected:,} of {before[2]} points are within")
    slider.focus()
    slider.press("Home")
    opened.wait_for(rf"{before[1]} of {before[1]} points are within")


def test_colours_change_and_the_bar_says_what_they_mean(opened: Opened) -> None:
    opened.show("dense view")
    opened.page.get_by_role("combobox", name="colour by").click()
    opened.page.get_by_role("option", name="depth", exact=True).click()
    opened.wait_for(r"depth mm")
    opened.page.get_by_role("combobox", name="colour by").click()
    opened.page.get_by_role("option", name="picture", exact=True).click()


def test_a_clicked_micro_image_shows_its_curves(opened: Opened) -> None:
    opened.show("raw image")
    opened.wait_for_scene(0.2)
    opened.click(2, 3)
    found = opened.wait_for(r"micro-image\s+\((\d+), (\d+)\), type \d")
    u, v = (float(text) for text in opened.wait_for(r"pixel u, v\s+([\d.]+), ([\d.]+)").groups())
    sensor = small_camera().sensor
    assert abs(u - sensor.width / 2) < 40, "the picture's middle is in the middle of the page"
    assert abs(v - sensor.height / 2) < 40
    k, l = small_camera().micro_images.owner([u, v])
    assert (int(found[1]), int(found[2])) == (int(k), int(l))
    estimate = opened.wait_for(r"B v = ([\d.]+) ± ([\d.]+); D v = ([\d.]+)")
    depth = opened.wait_for(r"its depth z\s+([\d.]+)")
    assert abs(float(depth[1]) - 800) < 60
    shown = opened.wait_for(r"virtual depth v\s+([\d.]+)")
    assert abs(float(shown[1]) - float(estimate[1])) < 10 * float(estimate[2])
    assert opened.page.locator(".uplot canvas").count() == 1


def test_two_clicks_measure_a_distance(opened: Opened) -> None:
    opened.show("dense view")
    opened.wait_for_scene(0.05)
    opened.page.get_by_role("tab", name="distance").click()
    opened.page.get_by_role("button", name="start again").click()
    opened.click(0, 0)
    opened.wait_for(r"Click on a second point")
    opened.click(60, 40)
    number = r"(-?[\d.]+)"
    place = ", ".join([number] * 3)
    found = opened.wait_for(rf"distance {number} ± {number} mm\s+between {place} and {place}")
    length, sigma, *places = map(float, found.groups())
    expected = measured_distance(places[:3], places[3:], (1.0, 1.0))
    assert abs(length - expected.length) < 0.5 + 0.1 * sigma
    assert 0 < sigma < 500
    opened.page.get_by_role("tab", name="place").click()


def test_the_points_shown_and_a_screenshot_can_be_saved(opened: Opened, tmp_path: Any) -> None:
    opened.show("dense view")
    with opened.page.expect_download(timeout=PATIENCE) as points:
        opened.page.get_by_role("button", name="save the points").click()
    points.value.save_as(tmp_path / "shown.ply")
    assert points.value.suggested_filename == "raw.shown.ply"
    original = read_ply(real_result().folder / "raw.dense.ply")
    assert np.array_equal(read_ply(tmp_path / "shown.ply")["points"], original["points"])
    with opened.page.expect_download(timeout=PATIENCE) as picture:
        opened.page.get_by_role("button", name="save a screenshot").click()
    picture.value.save_as(tmp_path / "shot.png")
    pixels = np.asarray(Image.open(tmp_path / "shot.png").convert("L"))
    assert (pixels > GROUND).mean() > 0.01


def test_nothing_leaves_the_machine_and_no_error_is_reported(opened: Opened) -> None:
    opened.page.wait_for_timeout(500)
    assert opened.hosts <= {"127.0.0.1", ""}
    assert "127.0.0.1" in opened.hosts
    assert opened.errors == []
