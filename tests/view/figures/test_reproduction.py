"""The figures of a reproduction show what is in its result."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from reproductions import (
    METHODS,
    absolute_values,
    confidence_values,
    disparity_values,
    moved,
    relative_values,
    scale_values,
    with_depth,
)

from plenodepth.studies.reproduction.published import RELATIVE
from plenodepth.studies.reproduction.results import OtherProgram
from plenodepth.view.figures.confidence import confidence_figure
from plenodepth.view.figures.method_lines import COLORS, groups, method_line
from plenodepth.view.figures.reproduction import END, bias_figure, disparity_figure, displacement_figure, means_figure
from plenodepth.view.figures.scale_errors import scale_error_figure
from plenodepth.view.figures.scene import QUALITY_END, read_pictures, scene_figure, shown_methods


def drawn(figure: Figure) -> bytes:
    """The PNG; a warning of the layout is an error here."""
    content = BytesIO()
    figure.savefig(content, format="png", dpi=50)
    return content.getvalue()


def texts(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.findobj(lambda part: hasattr(part, "get_text")))


def test_every_method_has_its_own_colour_and_appears_in_one_figure_at_least() -> None:
    main, variants = groups(METHODS)
    assert main == ["BLADE", "BLADEu", "DISP", "aware"]
    assert variants[0] == "BLADE"
    assert set(main) | set(variants) == set(METHODS)
    assert len(set(COLORS.values())) == len(COLORS)
    assert method_line("of tomorrow").color == "#000000"
    assert groups(["BLADE"]) == [["BLADE"]]
    assert groups([]) == []


def test_errors_over_displacement_are_cut_off_and_the_figure_says_so() -> None:
    values = relative_values()
    figure = displacement_figure(values.datasets, ["BLADE", "BLADEu"])
    assert drawn(figure)
    assert "cut off at 12 %" in texts(figure)
    panels = figure.axes
    assert [axes.get_title() for axes in panels] == ["R12-A", "R12-B", "R12-C", "R12-ES"]
    assert all(axes.get_ylim() == (0, END) for axes in panels)
    line = next(line for line in panels[0].lines if line.get_label() == "BLADE")
    expected = [100 * row.mean for row in values.datasets["r12-a"]["BLADE"].displacements]
    np.testing.assert_allclose(line.get_ydata(), expected)
    means = [row.mean for row in values.datasets["r12-a"]["BLADEu"].displacements]
    beyond = sum(100 * mean > END for mean in means)
    assert beyond > 0
    marks = [line for line in panels[0].lines if line.get_color() == method_line("BLADEu").color][1]
    assert len(marks.get_xdata()) == beyond


def test_means_stand_beside_the_papers() -> None:
    values = relative_values()
    figure = means_figure(values)
    assert drawn(figure)
    said = texts(figure)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [*METHODS, "RTRX"]
    for mean, spread in RELATIVE.values():
        assert f"{mean:.2f} ± {spread:.2f}" in said
    ours = values.over_a_b_c["aware"]
    assert f"{100 * ours.mean:.2f} ± {100 * ours.spread:.2f}" in said


def test_other_programs_are_drawn_on_the_datasets_that_they_have() -> None:
    values = relative_values()
    with_other = {**values.datasets["r12-b"], "RTRX": moved("r12-b", 0.06, 99)}
    others = {"RTRX": OtherProgram("rxlive", ())}
    values = replace(values, datasets={**values.datasets, "r12-b": with_other}, others=others)
    figure = means_figure(values)
    assert drawn(figure)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [*METHODS, "RTRX"]
    mine = [line for line in figure.axes[0].lines if np.asarray(line.get_ydata()).tolist() == [len(METHODS)]]
    assert [line.get_xdata()[0] for line in mine] == [100 * with_other["RTRX"].mean]
    shown = displacement_figure(values.datasets, ["BLADE", "RTRX"])
    assert [any(line.get_label() == "RTRX" for line in axes.lines) for axes in shown.axes] == [0, 1, 0, 0]


def test_bias_is_in_per_cent_of_the_truth_and_a_missing_depth_is_a_gap() -> None:
    found = dict(relative_values().datasets["r12-es"])
    figure = bias_figure("r12-es", found)
    assert drawn(figure)
    lines = {str(line.get_label()): np.asarray(line.get_ydata()) for line in figure.axes[0].lines}
    frame = found["BLADE"].frames[0]
    assert lines["BLADE"][0] == pytest.approx(100 * (frame.depth / frame.truth - 1))
    assert np.flatnonzero(np.isnan(lines["DISP"])).tolist() == [3]
    found["BLADEu"] = with_depth(found["BLADEu"], 0, 10 * found["BLADEu"].frames[0].truth)
    assert "cut off" in texts(bias_figure("r12-es", found))


def test_scale_errors_before_and_after_and_both_orders_where_there_are_both() -> None:
    datasets = scale_values().datasets
    figure = scale_error_figure(datasets)
    assert drawn(figure)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:4] == ["R12-A", "R12-B", "R12-C", "R12-ES"]
    assert "either order" in titles[4]
    assert "all datasets" in titles[5]
    assert "slope" in texts(figure)
    only = {"r12-c": {"BLADE": datasets["r12-c"]["BLADE"]}}
    assert not any("either order" in axes.get_title() for axes in scale_error_figure(only).axes)


def test_confidence_shows_what_remains_and_sigma_as_observed() -> None:
    methods = confidence_values().datasets["r12-elp20"].methods
    figure = confidence_figure("r12-elp20", methods)
    assert drawn(figure)
    said = texts(figure)
    assert all(word in said for word in ("BLADE", "aware", "by confidence", "by σ", "oracle", "at random"))
    left, right = figure.axes
    order = methods["BLADE"].sparsification
    curve = next(line for line in left.lines if line.get_label() == "_confidence")
    np.testing.assert_allclose(curve.get_ydata(), 100 * np.array(order.confidence))
    bins = methods["BLADE"].sigma.bins
    np.testing.assert_allclose(right.lines[0].get_xdata(), [100 * row.predicted for row in bins])
    np.testing.assert_allclose(right.lines[0].get_ydata(), [100 * row.robust for row in bins])


def test_disparity_names_both_means() -> None:
    values = disparity_values()
    figure = disparity_figure(values)
    assert drawn(figure)
    assert f"{100 * values.uncorrected.mean:.2f} %" in texts(figure)


def test_a_scene_shows_the_papers_two_and_the_best_of_ours(tmp_path: Path) -> None:
    values = absolute_values(tmp_path, (24, 32))
    best = min((label for label in values.means if label[0] == "A"), key=values.means.__getitem__)
    assert shown_methods(values) == ["B/C/S", "B/R/S", best]
    maps = read_pictures(tmp_path, values.pictures["calib"])
    truth, found = maps["truth"], maps["B/C/S"]
    figure = scene_figure("calib", truth, {"B/C/S": found}, {"B/C/S": 5.0})
    assert drawn(figure)
    said = texts(figure)
    share = np.isfinite(found).mean()
    assert f"mask, {100 * share:.0f} % of the truth" in said
    assert "median 5.00 mm" in said
    quality = next(image for axes in figure.axes for image in axes.images if image.get_clim() == (0, QUALITY_END))
    np.testing.assert_allclose(np.ma.filled(quality.get_array(), np.nan), np.abs(found - truth), rtol=1e-6)


def test_pictures_that_are_not_there_are_left_out(tmp_path: Path) -> None:
    assert read_pictures(tmp_path, {"truth": "pictures/none.npz"}) == {}
    nothing = np.full((4, 5), np.nan, dtype=np.float32)
    assert drawn(scene_figure("empty", nothing, {"B/C/S": nothing}, {"B/C/S": float("nan")}))
