"""Options, parsing, printing and progress that several commands share."""
