"""Classical units, fitted to rows and their classes by their original learning rules.

Start with ``perceptron.py``; ``units.py`` holds the base classes.
"""
