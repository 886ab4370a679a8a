"""The depth scale Γ: fitted to boards or known distances, or predicted by the optics."""
