"""Multilayer perceptrons you can train, understand and ship from Python, on the CPU you have."""

__version__ = "0.1.0.dev0"
