"""How many threads an estimator may use where joblib runs several at once."""

from __future__ import annotations

import threading

from madaline.kernels.threads import get_threads


def allowed_threads(asked: int | None) -> int:
    """As many as asked for, one in a thread of joblib's, else as many as the process may use.

    Processes of joblib's are told their number through ``OMP_NUM_THREADS``, which :func:`madaline.get_threads` reads;
    threads share those of their process.
    """
    if asked is not None:
        return asked
    if threading.current_thread() is not threading.main_thread():
        from joblib.parallel import get_active_backend

        if get_active_backend()[0].nesting_level:
            return 1
    return get_threads()
