"""The doctor: a training run in, findings with evidence and remedies out.

- ``checkup`` before training, ``diagnose`` after it, ``heal`` to try remedies; ``Doctor`` watches
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
        "madaline.doctor.torch_recorder": ("TorchRecorder",),
        "madaline.doctor.watch": ("Doctor",),
    },
)
