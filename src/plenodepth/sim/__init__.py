"""Raw images with ground truth: scenes, ray tracer, sensor, lidar."""
