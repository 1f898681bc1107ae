"""Planning: converts a graph to a flat program, which is simplified, fused and tiled, with its buffers in one arena.

Start with ``planner.plan``; ``instructions/`` has one file per kind of instruction, ``native/FORMAT.md`` defines them.
"""
