"""Takes a graph; hands on a flat program: simplified, fused, tiled, its buffers placed in one arena.

Start reading with ``planner.plan``; ``instructions/`` has one file for each kind, ``native/FORMAT.md`` what they mean.
"""
