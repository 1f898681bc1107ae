"""Every exception and warning madaline raises on purpose.

::

    MadalineError
    ├── ShapeError          (ValueError)            shapes that do not fit together
    ├── DtypeError          (TypeError)             a dtype that cannot be used here
    ├── TraceError          (TypeError)             a traced value would lose its trace, or a function has no rule
    ├── UnknownNameError    (ValueError, KeyError)  a name that is in no registry
    ├── DuplicateNameError  (ValueError)            a name that is in the registry already
    ├── InputError          (ValueError)            a number that a layer has no meaning for
    ├── TargetError         (ValueError)            a target that a loss has no meaning for
    ├── DivergenceError     (ArithmeticError)       training came to a loss that is not finite
    ├── FileFormatError     (ValueError)            a file that is damaged or of another kind
    ├── ExportError         (ValueError)            a net that cannot be written for this target
    ├── GradientError       (ValueError)            a derivative that disagrees with finite differences
    ├── ConfigError         (ValueError)            a setting or environment variable that cannot be honoured
    ├── NativeCoreError     (ImportError)           the native core is installed but cannot be loaded
    └── MissingPackageError (ImportError)           a package that only this needs is not installed
    MadalineWarning         (UserWarning)
    ├── DataWarning                                 something in the data that a person should look at
    └── NativeCoreWarning   (RuntimeWarning)        the native core is absent; NumPy does the work

A message has four parts: the argument as it was typed, the value it had, what is allowed, and the likely fix.
"""

__all__ = [
    "ConfigError",
    "DataWarning",
    "DivergenceError",
    "DtypeError",
    "DuplicateNameError",
    "ExportError",
    "FileFormatError",
    "GradientError",
    "InputError",
    "MadalineError",
    "MadalineWarning",
    "MissingPackageError",
    "NativeCoreError",
    "NativeCoreWarning",
    "ShapeError",
    "TargetError",
    "TraceError",
    "UnknownNameError",
]


class MadalineError(Exception):
    """Base of every exception madaline raises on purpose: catch this to catch them all."""


class ShapeError(MadalineError, ValueError):
    """Shapes that do not fit together; the message names both."""


class DtypeError(MadalineError, TypeError):
    """A dtype that cannot be used here, as an integer array to differentiate by."""


class TraceError(MadalineError, TypeError):
    """A traced value is about to lose its trace, or meets a function without a derivative rule.

    It is a ``TypeError`` because NumPy lets only that one through when it asks an object for ``__array__``.
    """


class UnknownNameError(MadalineError, ValueError, KeyError):
    """A name that is in no registry; the message lists the known ones and the nearest.

    Examples
    --------
    >>> print(UnknownNameError("activation='ReLu' is not a known activation."))
    activation='ReLu' is not a known activation.
    """

    def __str__(self) -> str:
        # KeyError would show the repr of its argument: quotes and backslashes around a sentence meant to be read.
        return str(self.args[0]) if self.args else ""


class DuplicateNameError(MadalineError, ValueError):
    """A name that is in the registry already."""


class InputError(MadalineError, ValueError):
    """A number that a layer has no meaning for, as a category beyond its table; the message names row and layer."""


class TargetError(MadalineError, ValueError):
    """A target that a loss has no meaning for; the message names its row."""


class DivergenceError(MadalineError, ArithmeticError):
    """Training came to a loss that is not finite.

    Attributes
    ----------
    step : int
        The step it happened in, counted from 1.
    layer : str
        The path of the layer where it began; empty if it was the loss itself.
    """

    def __init__(self, message: str, *, step: int = 0, layer: str = "") -> None:
        super().__init__(message)
        self.step = step
        self.layer = layer


class FileFormatError(MadalineError, ValueError):
    """A file that is damaged, of another kind, or of a format this version does not know."""


class ExportError(MadalineError, ValueError):
    """A net that cannot be written for a target, or a foreign one that cannot be read; the message names the layer."""


class GradientError(MadalineError, ValueError):
    """A derivative that disagrees with finite differences; the message names the worst element."""


class ConfigError(MadalineError, ValueError):
    """A setting or environment variable that cannot be honoured."""


class NativeCoreError(MadalineError, ImportError):
    """The native core is installed but cannot be loaded. Its absence is only a warning; this means it is broken."""


class MissingPackageError(MadalineError, ImportError):
    """A package that only one thing needs is not installed; the message says how to install it."""


class MadalineWarning(UserWarning):
    """Base of every warning madaline gives."""


class DataWarning(MadalineWarning):
    """Something in the data that a person should look at, as a column that gives the target away."""


class NativeCoreWarning(MadalineWarning, RuntimeWarning):
    """The native core is absent, so the NumPy reference executor does the work, many times slower."""
