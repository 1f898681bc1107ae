"""The playground: takes settings of data, net and training; serves a page that shows the training live.

Start with ``app.py``; ``settings.py`` lists what can be set, ``run.py`` trains, ``frame.py`` is what a page draws.
"""
