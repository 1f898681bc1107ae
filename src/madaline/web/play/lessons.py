"""Ready settings that follow the lectures, each with three sentences."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    """A lesson: settings, and what to look at.

    Attributes
    ----------
    name, title : str
    link : str
        The settings, as in a link.
    text : str
        Three sentences.
    """

    name: str
    title: str
    link: str
    text: str


LESSONS = (
    Lesson(
        "xor",
        "XOR needs a hidden layer",
        "data=xor&layers=3relu&rate=0.02",
        "No single line separates the two colours. Three rectifiers give three lines, and the output combines them. "
        "Remove the hidden layer and train again: the accuracy stays near one half.",
    ),
)
