"""The report of a calibration."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from calibrations import BOARD, calibration_run, facing, fitted_at_truth
from cameras import keplerian

from plenodepth.calib.advice.summary import CalibrationRun, CalibrationSummary
from plenodepth.calib.bundle.optics_choice import OpticsChoice, OpticsModel
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.whites.cats_eye import CatsEye
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.camera import PlenopticCamera, metric_from_virtual, preset
from plenodepth.camera.depth import usable_virtual_range
from plenodepth.camera.presets import shrunk
from plenodepth.view.reports.calibration import write_calibration_report

VOID = {"meta", "img", "br"}


class Reader(HTMLParser):
    """Text by element, and whether all that is opened gets closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.heads: list[str] = []
        self.images: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "img":
            assert dict(attrs)["alt"]
            self.images.append(str(dict(attrs)["src"]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "h2":
            self.heads.append(data)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_calibration_report(calibration_run(), path)
    assert list(path.parent.iterdir()) == [path]
    return path


def reported(some: CalibrationRun, folder: Path) -> CalibrationSummary:
    write_calibration_report(some, folder / "r.html")
    return some.summary


@pytest.mark.usefixtures("undrawn_figures")
def test_without_uncertainty_there_are_values_alone(tmp_path: Path) -> None:
    plain = replace(calibration_run(), uncertainty=None, start=None)
    summary = reported(plain, tmp_path)
    assert summary.uncertainty is None
    assert summary.depth_uncertainty == ()
    assert all(row.sigma is None for row in summary.derived.values())
    with_known = calibration_run().summary.derived
    np.testing.assert_allclose(
        [row.value for row in summary.derived.values()], [row.value for row in with_known.values()]
    )
    assert "The uncertainty has not been computed" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_the_report_is_one_whole_document_that_needs_nothing_else(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    reader = Reader(text)
    assert reader.open == []
    assert reader.tags.isdisjoint({"script", "link", "iframe"})
    assert not re.search(r'(src|href)="(?!data:)', text)
    assert not re.search(r"url\(|@import|https?://", text)
    assert len(text) < 3_000_000
    assert len(reader.images) >= 5
    assert all(source.startswith("data:image/png;base64,iVBOR") for source in reader.images)


def test_the_report_has_its_sections_in_order(written: Path) -> None:
    assert Reader(written.read_text(encoding="utf-8")).heads == [
        "Weak spots, and what to do about them",
        "Parameters",
        "Expected uncertainty of depth",
        "Residuals",
        "Coverage",
        "How it was made",
    ]


def test_the_report_is_for_light_and_dark_screens_and_phones(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text


def test_the_report_shows_the_numbers_of_the_summary(written: Path) -> None:
    summary = calibration_run().summary
    text = written.read_text(encoding="utf-8")
    assert f"{summary.rmse_uv:.3f} px" in text
    assert f"Scatter factor {summary.uncertainty.scatter_factor:.2f}" in text
    for item in summary.advice:
        assert item.rule not in ("convergence", "distances")
    assert "5 &lt; 6 &amp; so on" in text, "text is escaped"


@pytest.mark.usefixtures("undrawn_figures")
def test_without_blur_radii_and_centres_nothing_is_said_of_them(tmp_path: Path) -> None:
    adjustment = fitted_at_truth(with_centers=False)
    residuals = adjustment.fit.residuals.copy()
    residuals[:, 2] = np.nan
    blind = replace(adjustment, fit=replace(adjustment.fit, residuals=residuals))
    summary = reported(replace(calibration_run(), adjustment=blind), tmp_path)
    assert np.isnan(summary.rmse_rho)
    assert np.isnan(summary.rmse_centers)
    text = re.sub(r'base64,[^"]*', "", (tmp_path / "r.html").read_text(encoding="utf-8"))
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)
    assert "Residuals of the blur radii" not in text


@pytest.mark.usefixtures("undrawn_figures")
def test_nothing_but_outliers_still_gives_a_report(tmp_path: Path) -> None:
    adjustment = calibration_run().adjustment
    lost = replace(adjustment, fit=replace(adjustment.fit, weight=np.zeros_like(adjustment.fit.weight)))
    summary = reported(replace(calibration_run(), adjustment=lost), tmp_path)
    assert summary.outliers == summary.features
    assert "outliers" in [item.rule for item in summary.advice]


@pytest.mark.usefixtures("undrawn_figures")
@pytest.mark.parametrize("camera", [shrunk(preset("r12-a-pinhole")), keplerian(), shrunk(preset("r12-b"))])
def test_every_kind_of_camera_has_a_report(camera: PlenopticCamera, tmp_path: Path) -> None:
    far, near = usable_virtual_range(camera)
    depths = metric_from_virtual(1 / np.linspace(1 / near, 1 / (0.8 * far + 0.2 * near), 4), camera).tolist()
    poses = {(n, 0): facing(BOARD, z, (0.3 * (-1) ** n, 0.2)) for n, z in enumerate(depths)}
    summary = reported(CalibrationRun(fitted_at_truth(camera, poses), AdjustSettings(), BOARD), tmp_path)
    assert len(summary.per_frame) == 4
    assert len(summary.lens_types) == max(camera.type_count, 1)
    assert Reader((tmp_path / "r.html").read_text(encoding="utf-8")).open == []


@pytest.mark.usefixtures("undrawn_figures")
def test_white_images_get_their_section_and_their_notes(tmp_path: Path) -> None:
    numbers = np.array([4.0, 8.0, np.nan])
    radii = WhiteRadii(
        numbers,
        27 / numbers,
        np.array([4.0, 4.5, 4.8]),
        np.full(3, 1e-3),
        27.0,
        0.1,
        np.zeros((1, 1), int),
        0.0,
        ("w",),
    )
    summary = reported(replace(calibration_run(), radii=radii, notes=("p", "a note", "w")), tmp_path)
    assert summary.notes == ("a note", "p", "w"), "each once, those of the adjustment first"
    assert summary.white_radii.slope == 27
    assert "White images" in Reader((tmp_path / "r.html").read_text(encoding="utf-8")).heads
    for eye, said in (
        (CatsEye(-0.35, 0.02, 1.03, 0.092, 0.13, 3.5), "take 9.2 % of the light"),
        (CatsEye(-0.35, 0.02, 2.03, 0.0, 0.0, 3.5), "show no mechanical vignetting"),
    ):
        reported(replace(calibration_run(), radii=radii, cats_eye=eye), tmp_path)
        assert said in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn_figures")
def test_the_optics_that_were_compared_get_a_table_and_a_reason(tmp_path: Path) -> None:
    models = (
        OpticsModel("pupil held", 0, 0.0, True, "e = 0: a thin lens"),
        OpticsModel("exit pupil's distance e", 1, -53.2, True, "e = 19.5 ± 0.9 mm", True),
    )
    chosen = replace(calibration_run(), optics=OpticsChoice(models, "The exit pupil was freed: so & so."))
    summary = reported(chosen, tmp_path)
    assert summary.to_json()["optics"]["models"][1]["change"] == -53.2
    assert "optics" not in calibration_run().summary.to_json()
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Optics that the images ask for" in Reader(text).heads
    assert "so &amp; so" in text
    assert "-53.2" in text
    assert text.count(">chosen<") == 1


def test_a_failure_leaves_the_old_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no more ink")

    (tmp_path / "r.html").write_text("old")
    monkeypatch.setattr("plenodepth.view.reports.calibration.residual_figure", fail)
    with pytest.raises(RuntimeError):
        write_calibration_report(calibration_run(), tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]
