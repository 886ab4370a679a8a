"""plenodepth: metric depth from one raw image of a multi-focus plenoptic camera."""

__version__ = "0.1.0"
