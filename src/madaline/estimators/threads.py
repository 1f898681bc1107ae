"""The number of threads of an estimator, in particular inside joblib."""

from __future__ import annotations

import threading

from madaline.kernels.threads import get_threads


def allowed_threads(asked: int | None) -> int:
    """The given number of threads; by default one inside a thread of joblib, else all threads of the process.

    joblib sets ``OMP_NUM_THREADS`` in its worker processes, which :func:`madaline.get_threads` reads.
    """
    if asked is not None:
        return asked
    if threading.current_thread() is not threading.main_thread():
        from joblib.parallel import get_active_backend

        if get_active_backend()[0].nesting_level:
            return 1
    return get_threads()
