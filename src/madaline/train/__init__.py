"""Training: a net and data in, a trained model and the history of its training out.

- ``Trainer``, ``History``, ``ParameterGroup`` (settings of some parameters)
- ``Callback``, ``EarlyStopping``, ``Probes``, ``TensorBoard``, ``MLflow``: callbacks
- ``Metric``, ``TopK`` and others, ``METRICS``, ``as_metric``: metrics
- ``Sampler`` and others, ``SAMPLERS``: the order of rows
- ``recompute_statistics``: running statistics of the whole training set
- ``Stream``: data that is larger than memory

For readers of the source: start with ``trainer.py``; ``step.py`` builds the graph of a step, which is run natively for
whole epochs.
"""

from madaline.public import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "madaline.train.events": ("Callback",),
        "madaline.train.history": ("History",),
        "madaline.train.population": ("Population",),
        "madaline.train.loggers": ("MLflow", "TensorBoard"),
        "madaline.train.metrics": ("METRICS", "Metric", "TopK", "as_metric"),
        "madaline.train.probes": ("Probes",),
        "madaline.train.recipe": ("ParameterGroup",),
        "madaline.train.sampling": ("SAMPLERS", "Sampler"),
        "madaline.train.statistics": ("recompute_statistics",),
        "madaline.train.stopping": ("EarlyStopping",),
        "madaline.train.stream": ("Stream",),
        "madaline.train.trainer": ("Trainer",),
    },
)
