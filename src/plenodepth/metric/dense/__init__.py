"""The dense central view: one depth for every pixel that a pinhole in place of the main lens sees."""
