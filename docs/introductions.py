"""What the pages of the catalogue say besides what the registries hold. Braces are filled in by ``catalogue.py``."""

ACTIVATIONS = r"""# Activations
Every activation is a formula by name, found in `md.nn.activations`. Parameters are changed by keyword, and any function
of one array written with NumPy can stand in for a name:

```python
>>> import numpy as np
>>> import madaline as md
>>> leaky = md.nn.as_activation("leaky_relu").with_parameters(slope=0.1)
>>> leaky(np.array([-2.0, 3.0]))
array([-0.2,  3. ])
>>> mine = md.nn.as_activation(lambda x: x * np.tanh(x))
>>> mine.init, round(mine.gain, 3)
('he_normal', 1.149)

```

*Gain* is the factor by which weights of variance $1/n_\text{{in}}$ must be larger for sums of unit variance to stay
so, $1/\sqrt{{E[f(z)^2]}}$ with z standard normal. *Live range* is where the slope is not below 1/100 for good: beyond
it the unit is saturated. [condition] is 1 where it holds, else 0. Limits at infinity are exact, NaN stays NaN, slopes
at kinks are those of PyTorch. Derivatives are not written down anywhere: they come from the graph.

`md.nn.activations.mish.plot()` draws one (`pip install "madaline[plot]"`); here are all that have a curve:

![every activation and its derivative](pictures/activations.png)

{table}
## With learned parameters
These take what a layer learns as arguments; they are functions in `md.nn.activations`.

{learned}
What sigmoid and rectifiers are good and bad at is [measured in the gallery](../gallery/activation_problems.md).
"""

INITIALIZERS = r"""# Initializers
Where weights start. Weights are (n_in, n_out). A draw depends on the seed, the path of the parameter and the purpose
alone, so adding a layer does not change the others:

```python
>>> import madaline as md
>>> rng = md.nn.initializers.stream(0, "0.W", "init")
>>> md.nn.initializers.as_initializer("he_normal").draw((500, 300), rng).std().round(4)
np.float64(0.0632)
>>> md.nn.initializers.as_initializer("auto", activation="tanh")
FanScaled(scale=1.0, fan='mean', form='normal', gain=1.0)

```

`"auto"` is the one recommended for the activation that follows, as the last column says. `lsuv` and `kraehenbuehl`
look at a batch and adjust what was drawn.

{table}
{sections}"""

LAYERS = r"""# Layers
A layer is a frozen description without arrays; a net is a layer made of layers. `init` gives a model: the net with
parameters and state. A net that begins with `Input` knows its shapes and prints as a table:

```python
>>> import numpy as np
>>> import madaline as md
>>> net = md.Sequential(
...     md.nn.Input(20), md.Linear(64, bias=False), md.BatchNorm(), "relu", md.Dropout(0.1), md.Linear(3)
... )
>>> print(net)
layer  kind                    output   parameters  flops
0      Input(20)               (n, 20)           0      0
1      Linear(64, bias=False)  (n, 64)       1,280  2,560
2      BatchNorm()             (n, 64)         128    448
3      ReLU()                  (n, 64)           0     64
4      Dropout(p=0.1)          (n, 64)           0      0
5      Linear(3)               (n, 3)          195    387
total                                        1,603  3,459
>>> model = net.init(seed=7)
>>> list(model.params), list(model.state)
(['1.W', '2.weight', '2.bias', '5.W', '5.b'], ['2.mean', '2.variance'])
>>> X = np.ones((5, 20))
>>> hidden = model[:4]
>>> model(X).shape, hidden(X).shape, bool((hidden(X) == model.activations(X)["3"]).all())
((5, 3), (5, 64), True)

```

Input sizes are taken from the data or the number of columns: `net.init(X)`, `net.init(20)`. Training or not is an
argument of running, `model(X, train=True)`; nothing is hidden. One object in two places of a net shares its
parameters. `trainable=False` freezes a layer and all inside it; a frozen batch norm keeps its running averages.
A net with several inputs or outputs has a `Parallel` at its beginning or end:

```python
>>> net = md.Sequential(
...     md.Parallel(shop=md.Embedding(50, 4), numbers=md.nn.Standardize()),
...     md.Concat(),
...     md.mlp(32, 32, 1, residual=True),
... )
>>> data = {{"shop": np.arange(9), "numbers": np.linspace(0.0, 1.0, 18).reshape(9, 2)}}
>>> net.init(data)(data).shape
(9, 1)

```

## A whole net from a few words
`md.mlp(256, 128, 10, activation="mish", norm="batch", dropout=0.1)` gives the `Sequential` of it. Norms by name are
{norms}.

{mlp}

## Activations
Each activation of the [catalogue](activations.md) is a layer by its name, `"relu"`, and most have a class of their own:
{activations}.

## All layers
{rules}## One of your own
A layer says what it learns and computes; slopes, planning, freezing, sharing and the table come by themselves.

```python
>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Scale(md.nn.Layer):
...     factor: float = 1.0
...
...     def params(self, in_shape):
...         return {{"s": md.nn.Param((in_shape[-1],), md.nn.initializers.Constant(self.factor))}}
...
...     def __call__(self, x, p, context):
...         return x * p["s"]
>>> md.Sequential(Scale(2.0), md.Linear(1)).init(3).activations(np.ones(3))["0"]
array([2., 2., 2.], dtype=float32)

```
"""

LOSSES = r"""# Losses
A loss is the weighted mean over rows of a number for each row, $L = \sum_i w_i \ell_i / \sum_i w_i$. It sees the raw
outputs $z$ of the net (logits, log-rates), from which it is computed without overflow, and targets $y$. Every loss
takes row weights; those of classes take `class_weight` too:

```python
>>> import numpy as np
>>> import madaline as md
>>> z, y = np.array([[2.0, 0.0], [0.0, 0.5], [1.0, 1.0]]), np.array([0, 1, 1])
>>> loss = md.CrossEntropy(label_smoothing=0.1)
>>> loss(z, y).round(4), loss(z, y, np.array([1.0, 2.0, 0.0])).round(4)
(np.float64(0.4731), np.float64(0.4084))
>>> loss(z, y, class_weight="balanced", reduction="none").round(4)
array([0.3404, 0.3743, 0.5199])
>>> md.losses.as_loss(lambda z, y: np.mean(np.abs(z - y) ** 1.5, axis=1))(np.zeros((2, 1)), np.array([1.0, 4.0]))
np.float64(4.5)

```

{rules}## What the outputs mean
`loss.predict(raw)` turns raw outputs into what users want to see.

{outputs}"""

OPTIMIZERS = r"""# Optimizers
An optimizer is its update rule, over one flat vector $w$ of all parameters with gradient $g$; $t$ counts steps from 1
and $\eta$ is the scheduled rate. A rule of yours is a function and runs at the same speed:

```python
>>> import numpy as np
>>> import madaline as md
>>> def sign_descent(w, g, v, *, t, lr):            # v is state: it starts at zero
...     v = 0.9 * v + g
...     return w - lr * np.sign(v), v
>>> rule = md.optim.as_optimizer(sign_descent, learning_rate=0.1)
>>> w = np.array([1.0, -1.0])
>>> rule.step(w, np.array([3.0, -0.5]), rule.state(w), t=1)[0]
array([ 0.9, -0.9])

```

Every optimizer takes besides its own parameters:

{common}

{rules}## Solvers
A solver is given the loss of all rows and runs until it has converged.

{solvers}"""

REGULARIZERS = r"""# Regularizers, clipping, constraints, averages
What is added to the loss, done to the gradient before the step, to the weights after it, and kept beside them.

```python
>>> import numpy as np
>>> import madaline as md
>>> g = np.array([3.0, 4.0])
>>> md.optim.ClipNorm(1.0)(g).round(3), md.optim.ClipValue(1.0)(g)
(array([0.6, 0.8]), array([1., 1.]))
>>> float(md.optim.L2(0.1)(g)), md.grad(md.optim.L2(0.1))(g)
(2.5, array([0.6, 0.8]))

```

## Regularizers
{regularizers}## Clipping
{clippings}## Constraints
{constraints}## Averages
{averages}"""

SCHEDULES = r"""# Schedules
A schedule multiplies the learning rate of step $t$, counted from 1; the formulas are that factor ($\eta_0$ is the
optimizer's rate). Schedules are multiplied and put one after the other, and a function of the step is one too:

```python
>>> import madaline as md
>>> warm = md.optim.schedules.LinearWarmup(2).then(md.optim.schedules.Cosine(), after=2)
>>> warm.table(6).round(3)
array([0.5  , 1.   , 1.   , 0.854, 0.5  , 0.146])
>>> md.optim.schedules.as_schedule(lambda t: 1 / t).table(4)
array([1.        , 0.5       , 0.33333333, 0.25      ])

```

`md.optim.schedules.Cosine().plot(1000)` draws one (`pip install "madaline[plot]"`). These are all that are known
before training:

![every schedule](pictures/schedules.png)

{rules}"""

API = r"""# Public names
`import madaline as md` gives {count} names: what most programs need, and the modules in which the others are. A name
that is not there gets an error that says where it is.

```python
>>> import madaline as md
>>> md.ShapeError
Traceback (most recent call last):
    ...
AttributeError: madaline has no attribute 'ShapeError'. Did you mean md.errors.ShapeError?

```

{table}
## Modules
Each of them can be imported, `from madaline.nn import Swish`, and read, `help(md.nn)`.

{modules}"""
