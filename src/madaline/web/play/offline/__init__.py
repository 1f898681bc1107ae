"""The playground without a server: takes the catalogue of nets; writes one page that trains them by WebAssembly.

Start with ``page.py``; ``catalogue.py`` lists the nets, ``programs.py`` plans them, ``starts.py`` has their weights.
"""
