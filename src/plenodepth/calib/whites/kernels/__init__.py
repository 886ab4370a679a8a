"""The hot loops over the discs of white images."""
