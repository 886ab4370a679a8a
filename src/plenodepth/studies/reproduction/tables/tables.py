"""What an experiment found as tables and checks: ours, the paper's, the difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from plenodepth.studies.reproduction import published

Cell = str | float | None
BAD = ("1 %", "2 %", "5 %")
Values = Mapping[str, Any]


def table(title: str, columns: list[str], rows: list[list[Cell]], note: str = "") -> dict[str, Any]:
    """A table of a report."""
    return {"title": title, "columns": columns, "rows": rows, "note": note}


def check(
    what: str, ours: float, unit: str, *, paper: float | None = None, asked: float | None = None
) -> dict[str, Any]:
    """A figure that something is asked of: at most so much."""
    met = None if asked is None else bool(ours <= asked)
    return {"what": what, "ours": ours, "paper": paper, "asked": asked, "unit": unit, "met": met}


def holds(what: str, true: bool) -> dict[str, Any]:
    """A statement that must hold."""
    return {"what": what, "ours": float(true), "paper": None, "asked": None, "unit": "", "met": bool(true)}


def scale_tables(values: Values) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Γ by dataset, beside the paper's."""
    columns = [
        "dataset", "method", "order", "γ2 · 1e5", "γ1", "γ0 [mm]", "median error before [%]", "after [%]",
        "median |error| after [%]", "boards not seen by the fit [%]", "paper: γ2 · 1e5", "γ1", "γ0", "median error [%]",
    ]  # fmt: skip
    rows: list[list[Cell]] = []
    checks = []
    for name, methods in values["datasets"].items():
        for label, record in methods.items():
            theirs: tuple[Cell, ...] = (None, None, None, None)
            if label == "BLADE":
                theirs = published.SCALE[name]
            elif label == "BLADE, linear Γ" and name == "r12-c":
                theirs = (None, *published.SCALE_LINEAR_C)
            zero, one, two = record["depth_scale"]
            tested = record["held_out"].get(record["order"], {}).get("median")
            rows.append(
                [
                    name,
                    label,
                    record["order"],
                    1e5 * two,
                    one,
                    zero,
                    _percent(record["median_before"]),
                    _percent(record["median_after"]),
                    _percent(record["median_size_after"]),
                    _percent(tested),
                    *theirs,
                ]
            )
            if label in ("BLADE", "aware + Γ"):
                paper = abs(published.SCALE[name][3])
                ours = abs(100 * record["median_after"])
                what = f"{name}: |median scale error| after correction, {label}"
                checks.append(check(what, ours, "%", paper=paper, asked=published.ASKED_SCALE))
    note = (
        "Γ is fitted to boards across the axis, as in the paper, and the median is over them; the column before last "
        "of ours leaves each board out of the fit that it is judged by."
    )
    return [table("Depth scale Γ", columns, rows, note)], checks


def relative_tables(values: Values) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """ε_z by dataset and method, beside the paper's means."""
    names = list(values["datasets"])
    others = values.get("others", {})
    labels = [label for label in values["over_a_b_c"] if label not in others]
    rows: list[list[Cell]] = []
    for label in [*labels, *others]:
        mean = values["over_a_b_c"].get(label, {})
        paper, spread = published.RELATIVE.get(label, (None, None))
        ours = [_percent(values["datasets"][name].get(label, {}).get("mean")) for name in names]
        found = _percent(mean.get("mean"))
        difference = None if paper is None or found is None else found - paper
        rows.append([label, *ours, found, _percent(mean.get("spread")), paper, spread, difference])
    if "RTRX" not in others:
        rows.append(["RTRX (vendor)", *[None] * (len(names) + 2), *published.RELATIVE["RTRX"], None])
    columns = [
        "method",
        *(f"{name} [%]" for name in names),
        "mean a, b, c [%]",
        "± [%]",
        "paper [%]",
        "± [%]",
        "difference",
    ]
    notes = [f"{label}: {note}." for label, other in others.items() for note in other["notes"]]
    tables = [table("Relative depth error ε_z, mean over all pairs of frames", columns, rows, " ".join(notes))]
    checks = []
    if "BLADE" in labels and "r12-es" in names:
        es = values["datasets"]["r12-es"]
        theirs = published.RELATIVE_ES
        columns = ["method", "ours [%]", "95 % interval", "paper [%]"]
        shown = [*labels, *(label for label in others if label in es)]
        tables.append(
            table(
                "R12-ES",
                columns,
                [[m, _percent(es[m]["mean"]), _interval(es[m]["interval"]), theirs.get(m)] for m in shown],
            )
        )
        scaled = {label: 100 * es[label]["mean"] for label in labels}
        checks.append(
            check("r12-es: ε_z, BLADE", scaled["BLADE"], "%", paper=theirs["BLADE"], asked=published.ASKED_ES)
        )
        best = min((label for label in labels if label.startswith("aware")), key=scaled.__getitem__, default=None)
        if best is not None:
            checks.append(
                check(f"r12-es: ε_z, {best}", scaled[best], "%", paper=theirs["BLADE"], asked=published.ASKED_ES)
            )
        checks.append(holds("r12-es: unscaled errors are of the paper's size (5 to 25 %)", 5 <= scaled["BLADEu"] <= 25))
    for label in ("BLADE", "aware", "aware + Γ"):
        if label in labels:
            mean = values["over_a_b_c"][label]
            paper, spread = published.RELATIVE["BLADE"]
            asked = published.ASKED_ABC, published.ASKED_SPREAD
            checks.append(
                check(f"r12-a, b, c: mean ε_z, {label}", 100 * mean["mean"], "%", paper=paper, asked=asked[0])
            )
            checks.append(
                check(f"r12-a, b, c: its spread, {label}", 100 * mean["spread"], "%", paper=spread, asked=asked[1])
            )
    return tables, checks


def absolute_tables(values: Values) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Medians of the absolute difference (the paper's table 2)."""
    scenes = list(values["scenes"])
    columns = ["method"]
    for scene in scenes:
        columns += [f"{scene}: Q25", "median", "Q75", "paper"]
    columns += ["mean of medians", "paper", "difference"]
    rows: list[list[Cell]] = []
    for label, mean in values["means"].items():
        theirs = published.ABSOLUTE.get(label)
        row: list[Cell] = [label]
        for scene in scenes:
            found = values["scenes"][scene][label]
            paper = theirs[published.SCENES.index(scene)] if theirs else None
            row += [found["q25"], found["median"], found["q75"], paper]
        row += [mean, theirs[-1] if theirs else None, mean - theirs[-1] if theirs else None]
        rows.append(row)
    more = [
        [label, scene, found["bias"], found["mean"], found["completeness"], *(found["bad"][part] for part in BAD)]
        for scene in scenes
        for label, found in values["scenes"][scene].items()
    ]  # fmt: skip
    tables = [
        table("Absolute difference of central sub-aperture depth maps, mm", columns, rows),
        table(
            "The same in other words",
            [
                "method",
                "scene",
                "bias [mm]",
                "mean |difference| [mm]",
                "complete [%]",
                "off by > 1 % [%]",
                "> 2 %",
                "> 5 %",
            ],
            more,
        ),
    ]
    best = min(values["means"], key=values["means"].__getitem__)
    checks = [
        check(
            f"mean over the scenes of the median difference, best variant ({best})",
            values["means"][best],
            "mm",
            paper=published.ABSOLUTE["B/C/S"][-1],
            asked=published.ASKED_ABSOLUTE,
        ),
        _ordered(values, "B is better than D", lambda label: label[0] == "B", lambda label: "D" + label[1:]),
        _ordered(
            values,
            "S is better than U",
            lambda label: label[-1] == "S" and label[0] in "BD",
            lambda label: label[:-1] + "U",
        ),
    ]
    return tables, checks


def _ordered(values: Values, what: str, first: Callable[[str], bool], second: Callable[[str], str]) -> dict[str, Any]:
    """Whether the median of one variant is the smaller one, in every scene and for each of its kind."""
    worse = []
    total = 0
    for scene, found in values["scenes"].items():
        for label in found:
            other = second(label)
            if first(label) and other in found:
                total += 1
                if found[label]["median"] >= found[other]["median"]:
                    worse.append(f"{label} in {scene}")
    text = f"{what} in every scene" + (f" (not: {', '.join(worse)})" if worse else f" ({total} comparisons)")
    return holds(text, not worse)


def disparity_tables(values: Values) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """ε_z with either formula."""
    rows: list[list[Cell]] = [
        [which, 100 * values[which]["mean"], published.DISPARITY[which]] for which in ("corrected", "uncorrected")
    ]
    better = values["corrected"]["mean"] < values["uncorrected"]["mean"]
    return [table("R12-A, unscaled: ε_z by the formula of disparity", ["formula", "ours [%]", "paper [%]"], rows)], [
        holds("corrected disparity is the better one", better)
    ]


def distortion_tables(values: Values) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Coefficients of either direction, beside the paper's."""
    names = ("Q1 · 1e5", "Q2 · 1e6", "Q3 · 1e8", "P1 · 1e5", "P2 · 1e5")
    columns = ["dataset", "", *(part for name in names for part in (name, "paper")), "left after both [mm]"]
    rows: list[list[Cell]] = []
    for dataset, found in values["datasets"].items():
        for direction, theirs in zip(("direct", "inverse"), published.DISTORTION[dataset], strict=True):
            row: list[Cell] = [dataset, direction]
            for value, unit, paper in zip(found[direction], published.DISTORTION_UNITS, theirs, strict=True):
                row += [value / unit, paper]
            rows.append([*row, found["rmse_mm"] if direction == "inverse" else None])
    note = "The twins have the paper's direct coefficients, ours come from their images. The paper has 1e-5 mm left."
    return [table("Distortion", columns, rows, note)], []


def _percent(part: float | None) -> float | None:
    return None if part is None else 100 * part


def _interval(parts: list[float]) -> str:
    return f"{100 * parts[0]:.2f} … {100 * parts[1]:.2f}"
