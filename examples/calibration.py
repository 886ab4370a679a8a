"""Calibration of a camera: white images and boards in, a camera with uncertainties and advice out.

Files to try it on, typed in the folder of this project (a small sensor: quick, and less accurate than a whole one):

    plenodepth simulate dataset r12-a --quick --out twin
    python examples/calibration.py twin/boards 9x5:1.372549mm twin/white calibrated
"""

import sys
from pathlib import Path

import plenodepth
from plenodepth.io import read_image


def main(boards: str, board: str, whites: str, out: str) -> None:
    """Calibrate, say how well the camera is known and what would make it better, and save it."""
    height, width = read_image(next(Path(boards).rglob("raw.png"))).shape[:2]
    optics = plenodepth.Optics(  # what is printed on the camera and its lens, mm
        focal_length=50.0, f_number=4.0, focus_distance=450.0, pixel_size=0.0055, width=width, height=height
    )
    calibration = plenodepth.calibrate(boards, board, optics, whites=whites)

    print(f"{len(calibration.features)} features, RMSE {calibration.summary.rmse_uv:.2f} px")
    for name, quantity in calibration.summary.derived.items():
        sigma = "" if quantity.sigma is None else f" ± {quantity.sigma:.4f}"
        print(f"{name}: {quantity.value:.4f}{sigma} {quantity.unit}")
    for advice in calibration.advice:
        print(f"{advice.finding} {advice.remedy}")
    calibration.save(out)  # camera.yaml, with the covariance of its parameters, features, poses and summary


if __name__ == "__main__":
    main(*sys.argv[1:])
