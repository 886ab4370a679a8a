"""Rendered views against true ones: how alike the pictures are, and how sharp their edges."""
