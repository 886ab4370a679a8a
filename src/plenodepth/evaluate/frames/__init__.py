"""One depth or size per frame: relative depth, scale errors, and the frames' depths from any file."""
