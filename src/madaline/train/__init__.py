"""Takes a net and data; hands on a trained model and the history of its training.

Start reading with ``trainer.py``: it checks the options (``options.py``), prepares a session (``setup.py``) and runs it
(``session.py``). ``step.py`` builds the graph of a training step.
"""
