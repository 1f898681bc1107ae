"""Takes a net and data; hands on a trained model and the history of its training.

Start reading with ``trainer.py``; ``step.py`` builds the graph of a step, which is run natively for whole epochs.
"""
