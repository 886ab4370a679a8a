"""What libpleno's parameter file holds for an array of three lens types."""

PARAMETERS = {
    "m": "-0.14059554040431976", "scale": "0.0054999999999999997", "q": ["-0.029", "-0.024", "-0.027"],
    "q_prime": ["0.035", "0.040", "0.037"], "dc": "0.128", "dC": "0.1275", "lambda": "0.9931", "kappa": "0.68",
    "N": "4", "I": "3",
}  # fmt: skip
