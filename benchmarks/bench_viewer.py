"""How long `plenodepth view` takes from its start to the first picture of a large cloud, in a real browser.

    pytest benchmarks/bench_viewer.py -s -o python_files="bench_*.py"

The browser is headless Chromium, which Playwright drives and which draws by software: a machine with a graphics card is
quicker. It is open already, as a user's is. A cloud of 4,000 points tells what the page itself takes.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from plenodepth.io import write_ply

pytest.importorskip("viser", reason="no viser: pip install plenodepth[view]")
sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright to drive a browser")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")

COUNTS = (4_000, 5_000_000)  # points
PATIENCE = 60.0  # s
BACKGROUND = 40  # brightness, of 255, that the empty scene does not reach
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-background-networking",
]


def write_cloud_of(count: int, path: Path) -> None:
    """A bright wavy wall about 900 mm away."""
    random = np.random.default_rng(0)
    x, y = random.uniform(-300, 300, (2, count))
    points = np.column_stack([x, y, 900 + 40 * np.sin(x / 50)])
    colors = random.integers(120, 255, (count, 3), dtype=np.uint8)
    write_ply(points, path, colors=colors, confidence=np.ones(count), sigma=np.ones(count))


def seconds_to_picture(path: Path, browser: Any) -> tuple[float, float, float]:
    """From the start of the command to its address and to the first points on the screen; and CPU-seconds to there."""
    began = time.perf_counter()
    command = [sys.executable, "-c", "from plenodepth.cli import main; main()", "view", str(path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as viewer:
        assert viewer.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\d+", viewer.stdout.readline())
        assert address is not None
        printed = time.perf_counter() - began
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(address[0])
        while time.perf_counter() - began < PATIENCE:
            picture = np.asarray(Image.open(io.BytesIO(page.screenshot(timeout=1000 * PATIENCE))).convert("L"))
            if (picture[150:850, 360:980] > BACKGROUND).mean() > 0.02:
                break
            time.sleep(0.05)
        shown = time.perf_counter() - began
        cpu = cpu_seconds(viewer.pid)
        page.close()
        viewer.send_signal(signal.SIGINT)
        viewer.communicate(timeout=30)
    return printed, shown, cpu


def cpu_seconds(process: int) -> float:
    """What a process has taken so far; NaN where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_first_picture_of_a_large_cloud(tmp_path: Path) -> None:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=ARGUMENTS)
        found = {}
        for count in COUNTS:
            write_cloud_of(count, tmp_path / f"{count}.ply")
            seconds_to_picture(tmp_path / f"{count}.ply", browser)  # files and page are in the caches
            found[count] = seconds_to_picture(tmp_path / f"{count}.ply", browser)
        browser.close()
    print()
    for count, (printed, shown, cpu) in found.items():
        print(f"{count:9,d} points: address after {printed:.1f} s, first picture after {shown:.1f} s; {cpu:.1f} CPU-s")
    small, large = (found[count][1] for count in COUNTS)
    print(f"the large cloud takes {large / small:.2f} times as long as the small one")
    assert large < PATIENCE
