"""A primitive with some arguments held constant, for the sweeps: those by which no derivative is known."""

from __future__ import annotations

from madaline.graph.primitive import ZERO


class BoundPrimitive:
    """Behaves like a primitive of the remaining arguments."""

    def __init__(self, primitive, args):
        self.primitive, self.name = primitive, primitive.name
        self.fixed = {position: args[position] for position in primitive.without_derivative}

    def full(self, args, default=None):
        given = iter(args)
        count = len(args) + len(self.fixed)
        fixed = {i: arg.astype(args[0].dtype) if default is None else default for i, arg in self.fixed.items()}
        return [fixed[i] if i in fixed else next(given) for i in range(count)]

    def __call__(self, *args, **params):
        return self.primitive(*self.full(args), **params)

    def value(self, *args, **params):
        return self.primitive.value(*self.full(args), **params)

    def jvp(self, *args, **params):
        count = (len(args) - 1) // 2
        dots = self.full(args[count + 1 :], default=ZERO)
        return self.primitive.jvp(*self.full(args[:count]), args[count], *dots, **params)

    def vjp(self, *args, **params):
        bars = self.primitive.vjp(*self.full(args[:-2]), *args[-2:], **params)
        return tuple(bar for position, bar in enumerate(bars) if position not in self.fixed)


def sample_of(primitive, args):
    """The primitive and its arguments, those without derivative bound."""
    if not primitive.without_derivative:
        return primitive, args
    rest = tuple(arg for position, arg in enumerate(args) if position not in primitive.without_derivative)
    return BoundPrimitive(primitive, args), rest
