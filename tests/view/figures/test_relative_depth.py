"""Figures of relative depth show what is in the result of the experiment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawn_figures import drawn, texts
from reproductions import METHODS, disparity_values, moved, relative_values, with_depth

from plenodepth.studies.reproduction.published import RELATIVE
from plenodepth.studies.reproduction.results import OtherProgram
from plenodepth.view.figures.relative_depth import (
    END,
    METHOD_COLORS,
    depth_bias_figure,
    disparity_error_figure,
    displacement_error_figure,
    mean_error_figure,
    method_groups,
    method_line,
)


def test_every_method_has_its_own_colour_and_appears_in_one_figure_at_least() -> None:
    main, variants = method_groups(METHODS)
    assert main == ["BLADE", "BLADEu", "DISP", "aware"]
    assert variants[0] == "BLADE"
    assert set(main) | set(variants) == set(METHODS)
    assert len(set(METHOD_COLORS.values())) == len(METHOD_COLORS)
    assert method_line("of tomorrow").color == "#000000"
    assert method_groups(["BLADE"]) == [["BLADE"]]
    assert method_groups([]) == []


def test_errors_over_displacement_are_cut_off_and_the_figure_says_so() -> None:
    values = relative_values()
    figure = displacement_error_figure(values.datasets, ["BLADE", "BLADEu"])
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
    figure = mean_error_figure(values)
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
    figure = mean_error_figure(values)
    assert drawn(figure)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [*METHODS, "RTRX"]
    mine = [line for line in figure.axes[0].lines if np.asarray(line.get_ydata()).tolist() == [len(METHODS)]]
    assert [line.get_xdata()[0] for line in mine] == [100 * with_other["RTRX"].mean]
    shown = displacement_error_figure(values.datasets, ["BLADE", "RTRX"])
    assert [any(line.get_label() == "RTRX" for line in axes.lines) for axes in shown.axes] == [0, 1, 0, 0]


def test_bias_is_in_per_cent_of_the_truth_and_a_missing_depth_is_a_gap() -> None:
    found = dict(relative_values().datasets["r12-es"])
    figure = depth_bias_figure(found, "r12-es")
    assert drawn(figure)
    lines = {str(line.get_label()): np.asarray(line.get_ydata()) for line in figure.axes[0].lines}
    frame = found["BLADE"].frames[0]
    assert lines["BLADE"][0] == pytest.approx(100 * (frame.depth / frame.truth - 1))
    assert np.flatnonzero(np.isnan(lines["DISP"])).tolist() == [3]
    found["BLADEu"] = with_depth(found["BLADEu"], 0, 10 * found["BLADEu"].frames[0].truth)
    assert "cut off" in texts(depth_bias_figure(found, "r12-es"))


def test_disparity_names_both_means() -> None:
    values = disparity_values()
    figure = disparity_error_figure(values)
    assert drawn(figure)
    assert f"{100 * values.uncorrected.mean:.2f} %" in texts(figure)
