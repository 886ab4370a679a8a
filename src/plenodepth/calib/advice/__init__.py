"""What a calibration rests on, how good it is, and what would make it better."""
