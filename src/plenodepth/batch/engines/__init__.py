"""Where frames are made: in this process, or by the workers of a cluster of Dask's."""
