"""The doctor: a training run in, findings with evidence and remedies out.

- ``checkup`` before training, ``diagnose`` after it, ``heal`` to try remedies; ``Doctor`` watches
- ``Diagnosis``, ``Finding``, ``Remedy``; ``SICKNESSES``

For readers of the source: start with ``diagnose.py`` and ``judgement.py``; each sickness is a file of ``sicknesses/``.
"""
