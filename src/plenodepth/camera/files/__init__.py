"""Cameras in files: our own format, libpleno's and the vendor's."""
