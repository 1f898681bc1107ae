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
        "No single line separates the two colours. "
        "Three rectifiers draw three lines, which their maps show, and the output combines them. "
        "Remove the hidden layer and train again: the accuracy stays near one half.",
    ),
    Lesson(
        "nonlinearity",
        "Why units need a nonlinearity",
        "data=circles&layers=6identity,6identity",
        "The activation of these units is the identity, so that all layers together are one linear map. "
        "However long it trains, the boundary is a straight line. "
        "Choose tanh for one of the layers, and the boundary bends.",
    ),
    Lesson(
        "features",
        "Good inputs replace layers",
        "data=circles&features=x1x1,x2x2&layers=&rate=0.1",
        "This net has no hidden layer, but its inputs are the squares of the coordinates. "
        "The radius is a sum of squares, and so a circle is a straight line for this net. "
        "Replace the squares by x₁ and x₂ in the list of inputs to see what the same net does without them.",
    ),
    Lesson(
        "capacity",
        "Capacity",
        "data=spirals&layers=3tanh",
        "Three units cannot follow three arms: training and test loss both stay high, which is underfitting. "
        "Add units until the boundary follows the arms. "
        "Compare both runs: the larger net has the lower loss on the test points, too.",
    ),
    Lesson(
        "universal",
        "Sums of hinges approximate any function",
        "data=wave&features=x1&layers=24relu&schedule=cosine",
        "Every rectifier is a hinge, and the net is a sum of 24 of them: a polyline. "
        "Its corners gather where the curve bends. "
        "With 4 units it is coarse; with more, the error falls as far as you like.",
    ),
    Lesson(
        "vanishing",
        "Vanishing gradients",
        "data=circles&layers=8sigmoid,8sigmoid,8sigmoid,8sigmoid,8sigmoid&optimizer=sgd&rate=0.1",
        "The derivative of the logistic function is at most 1/4, and the first layer gets a product of five. "
        "The bars under Layers show how it shrinks from the output to the input, and the loss stays where it began. "
        "Change the activations to relu, or switch on Residual.",
    ),
    Lesson(
        "residual",
        "Skip connections keep the gradient",
        "data=circles&layers=8sigmoid,8sigmoid,8sigmoid,8sigmoid,8sigmoid&residual=1&optimizer=sgd&rate=0.1",
        "This is the net of the lesson on vanishing gradients, with skip connections around all hidden layers but one. "
        "The derivative of x + f(x) is 1 + df/dx, so that the gradient reaches the first layer. "
        "The bars under Layers have nearly the same length, and the net learns.",
    ),
    Lesson(
        "batch-norm",
        "Batch norm and the disc",
        "data=disc&layers=8sigmoid,8sigmoid,8sigmoid&norm=batch&optimizer=sgd&rate=0.1",
        "The points lie between 0 and 1, so that no input is centred, and sigmoid units shrink what they pass on. "
        "Batch norm gives every unit mean 0 and variance 1 before its activation, and gradient descent finds the disc. "
        "Set Norm to none and train again: the loss does not move.",
    ),
    Lesson(
        "dead",
        "Dead rectifiers",
        "data=circles&layers=8relu,8relu,8relu&rate=0.3",
        "With this learning rate, single steps push units so far that they are 0 for every point. "
        "A rectifier that is always 0 has gradient 0 and never comes back: count them under Layers. "
        "A smaller learning rate or leaky relu keeps the units alive.",
    ),
    Lesson(
        "rate",
        "The learning rate",
        "data=circles&optimizer=sgd&rate=3",
        "Steps of this size jump across the valley of the loss, which goes up and down and never settles. "
        "Try 0.3, where it falls steadily, and 0.003, where it hardly moves. "
        "Compare keeps one run beside the other.",
    ),
    Lesson(
        "momentum",
        "Momentum in a valley",
        "data=valley&layers=&optimizer=sgd&rate=0.1&momentum=0.9&batch=280&epochs=100",
        "One input is ten times smaller than the other: the loss of this linear net is a long, flat valley. "
        "Gradient descent creeps along the floor; momentum adds up the small steps that agree. "
        "Set Momentum to 0 and compare the curves, or switch on Standardize inputs, which makes the valley round.",
    ),
    Lesson(
        "dropout",
        "Dropout and wrong labels",
        "n=200&flip=0.3&layers=32relu,32relu&dropout=0.4&epochs=600",
        "Three of ten training points were given a random class; the test points are clean. "
        "Without dropout the net learns more and more of the wrong labels, with islands around them, and the test "
        "accuracy falls. "
        "Dropout makes the units less dependent on each other, and the boundary becomes smooth.",
    ),
)
