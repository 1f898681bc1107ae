"""Export of trained models as files that run without madaline (ONNX, PyTorch, Python, C), and import from others.

Every file is written from the primitives of the traced inference graph, so that no layer needs its own exporter.
Start reading with ``inference.py``, then ``numpy_script.py``.
"""
