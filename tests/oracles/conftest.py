"""These two import torch and jax, so the search for doctests must not open them."""

collect_ignore = ["in_jax.py", "record.py"]
