"""Derivatives of functions written with NumPy, and functions to write them with.

- ``grad``, ``value_and_grad``, ``jvp``, ``vjp``, ``jacobian``, ``hessian``, ``hvp``: derivatives
- ``vmap``, ``custom_derivative``, ``checkpoint``: other transformations of functions
- ``check_gradient``: comparison with finite differences
- ``compile``, ``trace``: one native program, the graph
- ``erf``, ``logsumexp``, ``relu``, ``sigmoid``, ``softplus``, ``stop_gradient``, ``random``: for formulas
- ``array``, ``zeros``: arrays of traced numbers, and arrays to fill with them
- ``expm``, ``solve_triangular``, ``polygamma``, ``multigammaln``: functions of SciPy that take plain arrays only
- ``stats``: probability distributions by the names of ``scipy.stats``
- ``supported_functions``: the functions of NumPy and SciPy that formulas can use
- ``collapse``: linear layers multiplied out

For readers of the source: this package takes functions and returns their derivatives. Start with ``gradient.py``;
``evaluate.py`` is where graphs become numbers.
"""

from madaline.public import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "madaline.functional": ("stats",),
        "madaline.functional.check_gradient": ("check_gradient",),
        "madaline.functional.collapse": ("collapse",),
        "madaline.functional.compile": ("compile",),
        "madaline.functional.gradient": ("grad", "value_and_grad"),
        "madaline.functional.jacobian": ("hessian", "jacobian"),
        "madaline.functional.products": ("hvp", "jvp", "vjp"),
        "madaline.functional.rules": ("checkpoint", "custom_derivative"),
        "madaline.functional.vmap": ("vmap",),
        "madaline.graph": ("random",),
        "madaline.graph.creation": ("array", "zeros"),
        "madaline.graph.numpy_api.dispatch": ("supported_functions",),
        "madaline.graph.numpy_api.linalg": ("expm", "solve_triangular"),
        "madaline.graph.numpy_api.reduce": ("logsumexp",),
        "madaline.graph.numpy_api.special": ("multigammaln", "polygamma"),
        "madaline.graph.primitives.elementwise": ("erf", "relu", "sigmoid", "softplus", "stop_gradient"),
        "madaline.graph.trace": ("trace",),
    },
)
