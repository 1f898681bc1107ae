"""The doctor: a training run in, findings with evidence and remedies out.

- ``checkup`` before training, ``diagnose`` after it, ``heal`` to try remedies; ``Doctor`` watches
- ``rate_range_test``, ``overfit_test``, ``gradient_test``, ``loss_slices``, ``loss_surface``, ``find_label_errors``:
  single tests
- ``TorchRecorder`` for training loops of PyTorch
- ``Diagnosis``, ``Finding``, ``Remedy``; ``SICKNESSES``

For readers of the source: start with ``diagnose.py`` and ``judgement.py``; each sickness is a file of ``sicknesses/``.
"""

from madaline.public import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "madaline.doctor.checkup": ("checkup",),
        "madaline.doctor.diagnose": ("diagnose",),
        "madaline.doctor.diagnosis": ("Diagnosis",),
        "madaline.doctor.finding": ("Finding", "Remedy"),
        "madaline.doctor.heal": ("Healing", "heal"),
        "madaline.doctor.sickness": ("SICKNESSES", "Sickness", "Symptom", "all_sicknesses"),
        "madaline.doctor.tools.gradient_test": ("gradient_test",),
        "madaline.doctor.tools.label_list": ("find_label_errors",),
        "madaline.doctor.tools.loss_slices": ("loss_slices",),
        "madaline.doctor.tools.loss_surface": ("loss_surface",),
        "madaline.doctor.tools.overfit_test": ("overfit_test",),
        "madaline.doctor.tools.rate_range": ("rate_range_test",),
        "madaline.doctor.torch_recorder": ("TorchRecorder",),
        "madaline.doctor.watch": ("Doctor",),
    },
)
