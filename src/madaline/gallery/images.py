"""Images of handwritten digits for the examples."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

Array = np.ndarray


def handwritten_digits(n_rows: int) -> tuple[Array, Array, int]:
    """Rows of pixels in [0, 1], their classes, and the side of the images.

    The images are those of MNIST, 28 x 28, if the environment variable ``MADALINE_DATA`` names a folder with
    ``image/mnist.npz``; otherwise those of scikit-learn, 8 x 8, at most 1,797 of them.
    """
    folder = os.environ.get("MADALINE_DATA")
    path = Path(folder) / "image" / "mnist.npz" if folder else None
    if path is not None and path.exists():
        with np.load(path) as file:
            images, classes = file["x_train"][:n_rows] / 255.0, file["y_train"][:n_rows]
    else:
        from sklearn.datasets import load_digits

        data = load_digits()
        images, classes = data.images[:n_rows] / 16.0, data.target[:n_rows]
    return images.reshape(len(images), -1).astype(np.float32), classes.astype(np.int64), images.shape[1]
