"""Bundle adjustment: features in, camera and board poses with uncertainties out."""
