"""Models that answer over HTTP: takes model files, serves predictions, forms, schemas and metrics.

Start with ``app.py``; ``server.py`` runs it.
"""
