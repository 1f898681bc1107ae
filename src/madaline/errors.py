"""All exceptions and warnings of madaline.

::

    MadalineError
    ├── ShapeError          (ValueError)            shapes that do not fit together
    ├── DtypeError          (TypeError)             a dtype that cannot be used here
    ├── TraceError          (TypeError)             a traced value would lose its trace, or a function has no rule
    ├── UnknownNameError    (ValueError, KeyError)  a name that is not in a registry
    ├── DuplicateNameError  (ValueError)            a name that is already in a registry
    ├── InputError          (ValueError)            an input value that a layer cannot use
    ├── TargetError         (ValueError)            a target that is invalid for a loss
    ├── DivergenceError     (ArithmeticError)       the loss became infinite or NaN during training
    ├── FileFormatError     (ValueError)            a file that is damaged or of another kind
    ├── ExportError         (ValueError)            a net that cannot be exported to this target
    ├── GradientError       (ValueError)            a derivative that disagrees with finite differences
    ├── ConfigError         (ValueError)            an invalid setting or environment variable
    ├── NativeCoreError     (ImportError)           the native core is installed but cannot be loaded
    └── MissingPackageError (ImportError)           an optional package is not installed
    MadalineWarning         (UserWarning)
    ├── DataWarning                                 something in the data that should be checked
    └── NativeCoreWarning   (RuntimeWarning)        the native core is not installed; NumPy is used

A message has four parts: the argument, its value, what is allowed, and the likely fix.
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
    """Base class of all exceptions of madaline."""


class ShapeError(MadalineError, ValueError):
    """Shapes that do not fit together; the message names both."""


class DtypeError(MadalineError, TypeError):
    """A dtype that cannot be used here, such as integers in a derivative."""


class TraceError(MadalineError, TypeError):
    """A traced value would lose its trace, or a function has no derivative rule.

    It is a ``TypeError`` because this is the only error that NumPy passes on from ``__array__``.
    """


class UnknownNameError(MadalineError, ValueError, KeyError):
    """A name that is not in a registry; the message lists the known names and the closest match.

    Examples
    --------
    >>> print(UnknownNameError("activation='ReLu' is not a known activation."))
    activation='ReLu' is not a known activation.
    """

    def __str__(self) -> str:
        # KeyError would show the repr of the message, with quotes and backslashes.
        return str(self.args[0]) if self.args else ""


class DuplicateNameError(MadalineError, ValueError):
    """A name that is already in a registry."""


class InputError(MadalineError, ValueError):
    """An input value that a layer cannot use, such as an unknown category; the message names the row and the layer.

    Attributes
    ----------
    problem : str
        The message without the advice at its end, which is for those who call from Python.
    column : str
        Name of the column of a table; empty if the error is not about one.
    row : int or None
        Number of the row, counted from 0.
    """

    def __init__(self, problem: str, *, advice: str = "", column: str = "", row: int | None = None) -> None:
        super().__init__(f"{problem} {advice}" if advice else problem)
        self.problem = problem
        self.column = column
        self.row = row


class TargetError(MadalineError, ValueError):
    """A target that is invalid for a loss; the message names the row."""


class DivergenceError(MadalineError, ArithmeticError):
    """The loss became infinite or NaN during training.

    Attributes
    ----------
    step : int
        Number of the step, counted from 1.
    layer : str
        Path of the layer in which the problem began; empty for the loss itself.
    """

    def __init__(self, message: str, *, step: int = 0, layer: str = "") -> None:
        super().__init__(message)
        self.step = step
        self.layer = layer


class FileFormatError(MadalineError, ValueError):
    """A file that is damaged, of another kind, or in a format that this version does not support."""


class ExportError(MadalineError, ValueError):
    """A net that cannot be exported to a target or imported; the message names the layer."""


class GradientError(MadalineError, ValueError):
    """A derivative that disagrees with finite differences; the message names the worst element."""


class ConfigError(MadalineError, ValueError):
    """An invalid setting or environment variable."""


class NativeCoreError(MadalineError, ImportError):
    """The native core is installed but cannot be loaded."""


class MissingPackageError(MadalineError, ImportError):
    """An optional package is not installed; the message says how to install it."""


class MadalineWarning(UserWarning):
    """Base class of all warnings of madaline."""


class DataWarning(MadalineWarning):
    """Something in the data that should be checked, such as a column that reveals the target."""


class NativeCoreWarning(MadalineWarning, RuntimeWarning):
    """The native core is not installed, so programs run in NumPy, many times slower."""
