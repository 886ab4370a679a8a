"""The viewer in the browser: `plenodepth view`. viser, which it needs, is loaded when a server is started."""
