"""How much depth suffers from what real lenses do: one effect at a time, on walls at known distances."""
