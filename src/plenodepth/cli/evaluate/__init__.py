"""``plenodepth evaluate …``: one module for each command."""
