"""Programs of the native machine, put together by hand from NumPy arrays: see native/FORMAT.md."""

from __future__ import annotations

import numpy as np

FLOATS = ("float32", "float64")
# Ends, kinks and rounding cases of every function; halves for rint.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.7, -3.7, 1e-30, 1e10, -1e10, np.inf, -np.inf, np.nan]


class Build:
    """A program whose arguments are NumPy arrays; operands are views of them."""

    def __init__(self, core, *, shared=0, row=0, tile=0, lane=0):
        self.core = core
        self.program = core.Program(shared, row, tile, lane)
        self.inputs, self.outputs = [], []

    def dtype(self, name):
        return self.core.DTYPES[np.dtype(name).name]

    def buffer(self, space, dtype, offset=0):
        return self.program.buffer(self.core.SPACES[space], self.dtype(dtype), offset)

    def argument(self, array, space):
        arrays = self.inputs if space == "input" else self.outputs
        arrays.append(array)
        return self.buffer(space, array.dtype, len(arrays) - 1)

    def view(self, base, view, space="input", row_advance=0):
        """The operand for ``view``, a view of the C-contiguous ``base``."""
        offset = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        strides = [s // base.itemsize for s in view.strides]
        return (self.argument(base, space), offset // base.itemsize, row_advance, strides)

    def read(self, array, shape=None):
        return self.view(array, array if shape is None else np.broadcast_to(array, shape))

    def write(self, array):
        return self.view(array, array, "output")

    def ops(self, *ops):
        return [(self.core.OPCODES[op[0]], *op[1:]) for op in ops]

    def run(self, n_rows=1, threads=1):
        self.program.run(self.inputs, self.outputs, n_rows, threads)
        return self.outputs[0] if len(self.outputs) == 1 else self.outputs


def static(shape):
    return [(n, False) for n in shape]


def apply(core, op, *args, dtype, out=None, threads=1):
    """One op on arrays that broadcast together."""
    shape = np.broadcast_shapes(*(a.shape for a in args))
    b = Build(core)
    b.program.shared_stage()
    y = np.zeros(shape, dtype if out is None else out)
    operands = [b.read(a, shape) for a in args] + [b.write(y)]
    b.program.elementwise(b.dtype(dtype), static(shape), operands, [], 0, b.ops((op, len(args), *range(len(args)))))
    return b.run(threads=threads)
