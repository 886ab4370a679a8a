"""``plenodepth calibrate …``: one module for each command."""
