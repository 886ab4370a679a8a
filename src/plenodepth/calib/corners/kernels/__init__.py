"""The hot loops of finding and fitting corners."""
