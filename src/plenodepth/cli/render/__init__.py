"""``plenodepth render …``: one module for each command."""
