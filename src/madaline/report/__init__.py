"""Pictures and pages about models and their training.

- ``write_report``: a page about a fitted estimator
- ``LossCurveDisplay``, ``FirstLayerDisplay``, ``LayerStatisticsDisplay``: pictures with matplotlib
- ``gradient_x_input``, ``integrated_gradients``: attributions to the columns of a row

For readers of the source: start with ``findings.py`` for reports, with ``curves.py`` for pictures.
"""

from madaline.public import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "madaline.estimators.attributions": ("gradient_x_input", "integrated_gradients"),
        "madaline.estimators.report": ("write_report",),
        "madaline.report.first_layer": ("FirstLayerDisplay",),
        "madaline.report.layer_statistics": ("LayerStatisticsDisplay",),
        "madaline.report.loss_curve": ("LossCurveDisplay",),
    },
)
