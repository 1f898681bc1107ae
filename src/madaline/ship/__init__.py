"""Takes trained models; hands on files that run without madaline (ONNX, PyTorch, Python, C), and models from others.

Every file is written from the primitives of the traced inference graph, so a layer needs no exporter of its own.
Start reading with ``inference.py``, then ``numpy_script.py``.
"""
