"""What the user should know about a frame's depth, and what to do about it, in words."""

from __future__ import annotations

from plenodepth.calib.advice import Advice
from plenodepth.metric.result import DepthSummary
from plenodepth.raw.image import Devignetting

MUST, SHOULD, MAY = 3, 2, 1  # importance

FEW_DEPTHS = {False: 0.6, True: 0.3}  # coarse, refined: of a scene with texture there are more
LOW_CONFIDENCE = 0.5
LARGE_SIGMA = 0.02  # of the depth
SOME_AT_ENDS = 0.05  # of the depths
MUCH_FILLED = 0.2  # of a dense view


def depth_advice(summary: DepthSummary) -> list[Advice]:
    """Findings, the most important first."""
    found = [*_verdict(summary), *_image(summary), *_depths(summary)]
    found += [Advice(MAY, "note", sentence(note), "") for note in summary.notes]
    return sorted(found, key=lambda advice: -advice.importance)


def _verdict(summary: DepthSummary) -> list[Advice]:
    """What speaks against the map as a whole."""
    quality = summary.quality
    if not quality.doubtful:
        return []
    return [Advice(MUST, "quality", sentence(quality.finding), sentence(quality.cure))]


def _image(summary: DepthSummary) -> list[Advice]:
    """What the raw image could have had."""
    if summary.devignetting in (Devignetting.WHITE, Devignetting.NONE):
        return []
    return [
        Advice(
            MAY,
            "white image",
            f"The vignetting of the micro-images was divided out by the {summary.devignetting}, not by a white image.",
            "Take a white image at the same aperture and focus, and give it with --white: it also shows dust, the "
            "sensor's own pattern, and whether the focus is the camera file's.",
        )
    ]


def _depths(summary: DepthSummary) -> list[Advice]:
    """What the depths themselves tell, where the map as a whole can be trusted."""
    found = list[Advice]()
    refined, quality = summary.settings.depth.refined, summary.quality
    if summary.valid_fraction < FEW_DEPTHS[refined]:
        missing = 100 * (1 - summary.valid_fraction)
        found.append(
            Advice(
                SHOULD,
                "coverage",
                f"{missing:.0f} % of the {'pixels' if refined else 'micro-images'} have no depth: they show no "
                "texture, too little light, or too much blur.",
                "Light the scene more evenly, give blank surfaces a texture (a projected pattern will do), or let "
                "--dense fill small gaps.",
            )
        )
    if summary.median_confidence is not None and summary.median_confidence < LOW_CONFIDENCE and not quality.doubtful:
        found.append(
            Advice(
                SHOULD,
                "confidence",
                f"Half of the depths have a confidence below {summary.median_confidence:.2f}.",
                "Drop the worst with --least-confidence 0.3, keep what neighbours agree on with --consistent, and take "
                "images with less noise.",
            )
        )
    if quality.at_ends > SOME_AT_ENDS and not quality.doubtful:
        low, high = summary.settings.depth.virtual_range
        found.append(
            Advice(
                SHOULD,
                "range",
                f"{100 * quality.at_ends:.0f} % of the depths lie at an end of the searched range, "
                f"|v| = {low:g} … {high:g}: what they show may be nearer or farther.",
                "Move the scene into the camera's usable range (plenodepth camera show), or widen virtual_range in the "
                "settings file.",
            )
        )
    if summary.median_sigma_z_mm and summary.median_z_mm:
        share = summary.median_sigma_z_mm / summary.median_z_mm
        if share > LARGE_SIGMA:
            found.append(
                Advice(
                    MAY,
                    "sigma",
                    f"The median σ is {100 * share:.1f} % of the depth.",
                    "Go nearer, or focus the main lens farther away: σ grows with the square of the distance.",
                )
            )
    if summary.dense is not None and summary.dense["filled_fraction"] > MUCH_FILLED:
        found.append(
            Advice(
                SHOULD,
                "filled",
                f"{100 * summary.dense['filled_fraction']:.0f} % of the dense view have no texture and take the depth "
                "of what lies around.",
                "Do not measure there: NAME.dense.filled.png marks these pixels.",
            )
        )
    return found


def sentence(text: str) -> str:
    """A text that begins with a capital and ends with a full stop."""
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")
