"""Results of a reproduction as tables and checks."""
