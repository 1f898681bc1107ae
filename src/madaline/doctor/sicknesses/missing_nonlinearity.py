"""Linear layers with nothing nonlinear between them."""

from __future__ import annotations

from madaline.doctor import net_edits as nets
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom
from madaline.nn.layers.linear import Linear


class MissingNonlinearity(Sickness):
    """Linear layers with nothing nonlinear between them."""

    name = "missing_nonlinearity"
    number = 6
    title = "There is no activation between the linear layers."
    cause = 0
    why = (
        "Linear layers without an activation between them are one linear map, x W1 W2 = x (W1 W2), however many "
        "there are. The net cannot learn more than a linear model."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        if not nets.is_linear(exam.setup.net):
            return None
        count = sum(isinstance(layer, Linear) for layer in exam.layers)
        return Symptom({"linear layers": count}, "all hidden layers", 0.95, is_certain=True)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Put an activation after every hidden layer, for example 'relu'.",
                lambda setup: setup.with_net(nets.with_nonlinearities(setup.net)),
                {"activation": "relu"},
                "--activation relu",
            )
        ]
