"""The paper's experiments, run on simulated twins of its datasets or on the datasets themselves."""
