"""The programs of the catalogue and the generated data, without repetition."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.data import shapes
from madaline.data.curves import CURVES
from madaline.errors import ConfigError, MadalineError
from madaline.functional.model import Model
from madaline.web.play.choices import listed
from madaline.web.play.exercise import Exercise
from madaline.web.play.frame import stages
from madaline.web.play.offline.catalogue import DRAWS, POINTS, net_key, step_key
from madaline.web.play.offline.programs import PageProgram, slots, step_program, view_program
from madaline.web.play.offline.starts import drawn, starts
from madaline.web.play.problem import PlayProblem, make_problem
from madaline.web.play.settings import Settings
from madaline.web.play.tables import TableStore


class Pack:
    """Programs by key.

    Attributes
    ----------
    refused : dict of str
        Why the page cannot run some settings, by their link.
    """

    def __init__(self) -> None:
        self.refused: dict[str, str] = {}
        self._nets: dict[str, Any] = {}
        self._steps: dict[str, int] = {}
        self._slots: dict[str, Any] = {}
        self._programs: dict[PageProgram, int] = {}
        self._problems: dict[tuple[str, str], PlayProblem] = {}

    def __len__(self) -> int:
        return len(self._steps)

    def add(self, settings: Settings) -> None:
        """Plan the programs of settings, unless there are any already."""
        try:
            self._add(Exercise(settings, self._problem(settings)))
        except MadalineError as error:
            self.refused[settings.link()] = str(error)

    def _add(self, exercise: Exercise) -> None:
        net, step = net_key(exercise), step_key(exercise)
        if f"{net}|{step}" in self._steps:
            return
        model = exercise.net().init(exercise.problem.X, seed=0)
        if net not in self._nets:
            self._nets[net] = self._net(exercise, model)
        self._steps[f"{net}|{step}"] = self._number(step_program(exercise, model))
        name = exercise.settings.optimizer
        self._slots[name] = {slot: _uniform(value) for slot, value in slots(exercise, model).items()}

    def _net(self, exercise: Exercise, model: Model) -> dict[str, Any]:
        network, begin = model.network, starts(model)
        if not np.allclose(drawn(begin, 0, network.n_params), model.params.flat, rtol=1e-5, atol=1e-6):
            raise ConfigError(f"init={exercise.settings.init!r} depends on more than random numbers.")
        return {
            "view": self._number(view_program(exercise, model)),
            "size": network.n_params,
            "begin": begin,
            "state": starts(model, of_state=True),
            "stages": [
                [list(network.params[f"{path}.W"].shape), *(_place(model, f"{path}.{name}") for name in ("W", "b"))]
                for path, _ in stages(model)
            ],
            "least": network.min_rows,
        }

    def parts(self) -> tuple[dict[str, Any], bytes]:
        """The index, and the content of all programs."""
        kinds: dict[Any, int] = {}
        rows: list[Any] = [[]] * len(self._programs)
        content, size = [], 0
        # Programs of one kind are alike, so that they are compressed best side by side.
        for program, number in sorted(self._programs.items(), key=lambda item: (item[0].inputs, item[0].outputs)):
            kind = program.inputs, program.outputs, program.counts, program.commit
            rows[number] = [size, len(program.content), kinds.setdefault(kind, len(kinds))]
            content.append(program.content)
            size += len(program.content)
        index = {"nets": self._nets, "steps": self._steps, "slots": self._slots, "programs": rows, "kinds": list(kinds)}
        return index, b"".join(content)

    def _problem(self, settings: Settings) -> PlayProblem:
        key = settings.data, settings.features
        if key not in self._problems:
            self._problems[key] = make_problem(Settings(data=key[0], features=key[1], n=200), TableStore())
        return self._problems[key]

    def _number(self, program: PageProgram) -> int:
        return self._programs.setdefault(program, len(self._programs))


def data_sets() -> tuple[list[dict[str, Any]], bytes]:
    """The generated data: coordinates and targets, and the state of the generator after them, for noise."""
    index: list[dict[str, Any]] = []
    content: list[bytes] = []
    for choice in listed("sources"):
        name, kind = choice["value"], choice["kind"]
        if kind not in ("shapes", "curves"):
            continue
        for n in POINTS:
            for draw in DRAWS:
                rng = np.random.default_rng(draw)
                X, y = (getattr(shapes, name) if kind == "shapes" else CURVES[name])(n, rng)
                state: Any = rng.bit_generator.state
                numbers = (state["state"]["state"], state["state"]["inc"], state["has_uint32"], state["uinteger"])
                index.append({"name": name, "n": n, "draw": draw, "width": X.shape[1], "state": [*map(str, numbers)]})
                content += [X.astype("<f4").tobytes(), np.asarray(y).astype("<f4").tobytes()]
    return index, b"".join(content)


def _place(model: Model, path: str) -> int:
    return model.network.params[path].offset if path in model.network.params else -1


def _uniform(value: np.ndarray) -> list[float]:
    """The size of a slot, 0 for that of the parameters, and the number in every place."""
    if value.size and np.ptp(value) > 0:
        raise ConfigError("The optimizer begins with different numbers, which the page does not keep.")
    return [0 if value.ndim else 1, float(value.flat[0]) if value.size else 0.0]
