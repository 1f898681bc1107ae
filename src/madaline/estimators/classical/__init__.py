"""Takes: rows and their classes. Hands on: the units of the first decades, fitted by their own rules.

Start with ``perceptron.py``; ``units.py`` is what they do alike.
"""
