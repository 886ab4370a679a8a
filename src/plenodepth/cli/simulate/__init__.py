"""``plenodepth simulate …``: one module for each command."""
