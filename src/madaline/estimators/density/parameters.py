"""The parameters that estimators of a whole density share."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

from madaline.estimators.parameters import POSITIVE, NetParameters, NumberRange, Parameter, parameters


@parameters
class DensityParameters(NetParameters):
    """Parameters in addition to those of every net."""

    _: KW_ONLY
    variance_floor: Annotated[
        float, Parameter("float", "Smallest variance, as a fraction of the variance of the targets.", (POSITIVE,))
    ] = 1e-4
    mc_dropout: Annotated[
        int,
        Parameter(
            "int",
            "Predict the mean of the densities of this many nets thinned by dropout (Gal & Ghahramani 2016); 0 uses "
            "the whole net. Needs ``dropout``.",
            (NumberRange("[0, inf)", whole=True),),
        ),
    ] = 0
