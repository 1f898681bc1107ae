"""Files of a table that are scored one by one, in this process or as tasks on a Ray cluster."""

from __future__ import annotations

import hashlib
import platform
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from madaline.errors import MadalineError
from madaline.estimators.tabular.saved_model import SavedModel, load_saved
from madaline.estimators.tabular.scored_table import ScoreOptions, score_table
from madaline.kernels.threads import set_threads
from madaline.scale.cluster import Cluster

MOST_MODELS = 2
"Number of models that a worker process keeps."
_models: dict[str, SavedModel] = {}


@dataclass(frozen=True)
class FileToScore:
    """A table and the file that its predictions are written to."""

    source: Path
    out: Path


@dataclass(frozen=True)
class ScoredFile:
    """A file with predictions, or the reason why there is none."""

    file: FileToScore
    n_rows: int
    error: str = ""


def score_files(
    saved: SavedModel, files: Sequence[FileToScore], options: ScoreOptions, *, cluster: Cluster | None
) -> Iterator[ScoredFile]:
    """Score all files; give each as it is finished.

    A file is written by the node that scores it, atomically: it is there completely or not at all. An error in one file
    does not keep the others from being scored. Results do not depend on where they are computed.

    Parameters
    ----------
    saved : SavedModel
    files : sequence of FileToScore
        All nodes must reach them by the same paths.
    options : ScoreOptions
    cluster : Cluster, optional
        By default the files are scored by this process, one after another.
    """
    if cluster is None:
        for file in files:
            yield score_file(saved, file, options)
        return
    content = saved.path.read_bytes()
    key, model = hashlib.sha256(content).hexdigest(), cluster.put(content)
    tasks = [(key, model, file, options) for file in files]
    for _, result in cluster.run(score_on_worker, tasks):
        yield result


def score_on_worker(key: str, model: bytes, file: FileToScore, options: ScoreOptions) -> ScoredFile:
    """Score one file on a worker, with one thread; the model is kept for the next file."""
    set_threads(1)
    if key not in _models:
        while len(_models) >= MOST_MODELS:
            del _models[next(iter(_models))]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.madaline"
            path.write_bytes(model)
            _models[key] = load_saved(path)
    for path, what in ((file.source, "file"), (file.out.parent, "folder")):
        if not path.exists():
            error = f"node {platform.node()!r} has no {what} {str(path)!r}. All nodes must reach it by the same path."
            return ScoredFile(file, 0, error)
    return score_file(_models[key], file, options)


def score_file(saved: SavedModel, file: FileToScore, options: ScoreOptions) -> ScoredFile:
    """Score one file; an error in the file becomes a sentence."""
    try:
        n_rows, _ = score_table(saved, file.source, file.out, options)
    except (MadalineError, OSError) as error:
        return ScoredFile(file, 0, str(error))
    return ScoredFile(file, n_rows)
