"""Takes functions written with NumPy; hands on their derivatives: grad, jvp, vjp, jacobian, hessian, hvp.

Start reading with ``gradient.py``; ``evaluate.py`` is where graphs become numbers.
"""
