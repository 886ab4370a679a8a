"""Reports in a real browser: they open from a file, ask nobody for anything, and their controls work."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import file_address, opened
from calibrations import calibration_run
from planes import plane_image, small_camera

from plenodepth.metric.frame import estimate_depth
from plenodepth.view.reports import write_calibration_report, write_depth_report

pytestmark = pytest.mark.slow

# How many pixels of the canvas show a point, and how many colours there are.
CANVAS = """() => {
  const canvas = document.querySelector("canvas"), context = canvas.getContext("2d");
  const data = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  const shown = data.filter((value) => value !== 0xff222222);
  return [shown.length / data.length, new Set(shown).size];
}"""


@pytest.fixture(scope="module")
def depth_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "plane.html"
    write_depth_report(estimate_depth(plane_image(900.0, tilt=0.3), small_camera()), path)
    return path


def test_the_report_of_a_frame_works_from_its_file(depth_page: Path) -> None:
    expect = pytest.importorskip("playwright.sync_api", reason="no Playwright to drive a browser with").expect
    with opened(file_address(depth_page)) as seen:
        page = seen.page
        page.wait_for_selector(".turntable[data-shown]")
        covered, colors = page.evaluate(CANVAS)
        assert covered > 0.2
        assert colors > 20
        everything = page.get_attribute(".turntable", "data-shown")

        # The slider between picture and depth uncovers the depth.
        over = page.locator(".compare .over")
        before = over.evaluate("image => getComputedStyle(image).clipPath")
        page.locator(".compare input").focus()
        page.keyboard.press("Home")
        assert over.evaluate("image => getComputedStyle(image).clipPath") != before

        # Of the cloud, fewer points are sure.
        page.locator(".turntable input[type=range]").fill("85")
        expect(page.locator(".turntable")).not_to_have_attribute("data-shown", everything)
        assert 0 < int(page.get_attribute(".turntable", "data-shown")) < int(everything)
        page.locator(".turntable input[type=range]").fill("0")
        expect(page.locator(".turntable")).to_have_attribute("data-shown", everything)

        # Turned, and in other colours, it is another picture.
        canvas = page.locator("canvas")
        first = canvas.screenshot()
        canvas.focus()
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(200)
        turned = canvas.screenshot()
        assert turned != first
        page.get_by_label("depth", exact=True).check()
        page.wait_for_timeout(200)
        assert canvas.screenshot() != turned

        assert seen.errors == []
        assert seen.requests == [file_address(depth_page)]


def test_the_report_fits_a_narrow_and_dark_screen(depth_page: Path) -> None:
    with opened(file_address(depth_page), width=390, scheme="dark") as seen:
        seen.page.wait_for_selector(".turntable[data-shown]")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert seen.errors == []


def test_the_report_of_a_calibration_opens_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_calibration_report(calibration_run(), path)
    with opened(file_address(path)) as seen:
        images = seen.page.locator("img")
        assert images.count() >= 5
        assert seen.page.evaluate("[...document.images].every(image => image.naturalWidth > 100)")
        assert seen.errors == []
        assert seen.requests == [file_address(path)]


def test_a_page_that_asks_for_something_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"")
    (tmp_path / "page.html").write_text('<img src="a.png" alt=""><script>nothing()</script>', encoding="utf-8")
    with opened(file_address(tmp_path / "page.html")) as seen:
        assert seen.requests[1:] == [file_address(tmp_path / "a.png")]
        assert any("nothing is not defined" in error for error in seen.errors)
