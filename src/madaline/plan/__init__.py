"""Takes a graph; hands on a flat program: simplified, fused, tiled, its buffers placed in one arena.

Start reading with ``planner.plan``; ``program.py`` has the instructions, ``native/FORMAT.md`` what they mean.
"""
