"""``plenodepth camera …``: one module for each command."""
