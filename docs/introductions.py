"""Templates of the catalogue pages: titles, introductions and examples. ``catalogue.py`` fills in the braces."""

ACTIVATIONS = r"""# Activations
Activations are formulas with names, defined in `md.nn.activations`. Their parameters are passed by keyword. Wherever a
name is accepted, so is any function of one array that is written with NumPy:

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

- *Gain* is the factor by which weights of variance $1/n_\text{{in}}$ are multiplied to preserve unit variance from
  layer to layer: $1/\sqrt{{E[f(z)^2]}}$ with z standard normal.
- *Backward gain* is the same for gradients: $1/\sqrt{{E[f'(z)^2]}}$. A layer of n inputs and n outputs keeps the
  variance of its signal with weights of variance gain²/n, and that of its gradient with weights of variance
  (backward gain)²/n. Both are $\sqrt2$ for relu, which gives He's weights; where they differ, no variance satisfies
  both.
- *Live range* is the range of inputs outside of which the slope stays below 1/100: the unit is saturated there.
- *Output range* is the range of values. Inputs of a net should have a similar size: mean 0 and standard deviation 1, or
  the range from -1 to 1 (`md.data.ColumnScaler("symmetric")`).
- A condition in brackets is 1 where it is true, else 0.

Limits at infinity are exact, NaN stays NaN, and slopes at kinks are those of PyTorch. Derivatives are computed from the
formulas by automatic differentiation.

`md.nn.activations.mish.plot()` draws an activation and its derivative (`pip install "madaline[plot]"`). These are all
elementwise activations:

![every activation and its derivative](pictures/activations.png)

{table}
## With learned parameters
These functions of `md.nn.activations` take learned parameters of a layer as arguments.

{learned}
The gallery compares the
[problems of sigmoid and rectifier units](../src/madaline/gallery/examples/activation_problems.py).
"""

INITIALIZERS = r"""# Initializers
Initializers set the weights before training. Weights are (n_in, n_out). Random values depend only on the seed, the path
of the parameter and the purpose, so adding a layer does not change the initial weights of the others:

```python
>>> import madaline as md
>>> rng = md.nn.initializers.stream(0, "0.W", "init")
>>> md.nn.initializers.as_initializer("he_normal").draw((500, 300), rng).std().round(4)
np.float64(0.0632)
>>> md.nn.initializers.as_initializer("auto", activation="tanh")
FanScaled(scale=1.0, fan='mean', form='normal', gain=1.0)

```

`"auto"` selects the initializer that is recommended for the activation after the layer (last column). `lsuv` and
`kraehenbuehl` use a batch of data to adjust the values that were drawn.

{table}
## Kinds
{sections}"""

LAYERS = r"""# Layers
A layer is a frozen description without arrays; a net is a layer that consists of layers. `init` returns a model: the
net with parameters and state. A net that begins with `Input` knows its shapes and is printed as a table:

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

Other nets get their input sizes from data or from the number of columns: `net.init(X)`, `net.init(20)`. Training mode
is an argument of the call, `model(X, train=True)`, not a hidden state. A layer object that occurs twice in a net shares
its parameters. `trainable=False` freezes a layer and all layers inside it; a frozen batch norm does not update its
running averages. A net with several inputs or outputs has a `Parallel` layer at its beginning or end:

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

## Multilayer perceptrons
`md.mlp(256, 128, 10, activation="mish", norm="batch", dropout=0.1)` returns a `Sequential` net with two hidden layers.
The names of norms are {norms}.

{mlp}

## Activations
Each activation of the [catalogue](activations.md) can be used as a layer, by its name such as `"relu"` or as a class:
{activations}.

## All layers
{rules}## Custom layers
A layer defines its parameters and its formula. Derivatives, native execution, freezing, parameter sharing and the
printed table follow from these:

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
A loss assigns a number to each row; the loss of a batch is their weighted mean, $L = \sum_i w_i \ell_i / \sum_i w_i$.
Its arguments are the raw outputs $z$ of the net (logits, log-rates), from which it can be computed without overflow,
and the targets $y$. Every loss accepts row weights; losses of classes also accept `class_weight`. A function of outputs
and targets is a custom loss:

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

## All losses
{rules}## Predictions from raw outputs
`loss.predict(raw)` converts raw outputs to predictions.

{outputs}"""

OPTIMIZERS = r"""# Optimizers
An optimizer is an update rule for one flat vector $w$ of all parameters with gradient $g$; $t$ counts steps from 1 and
$\eta$ is the scheduled learning rate. A custom rule is a function and runs as fast as the built-in ones:

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

All optimizers have these parameters:

{common}

## All optimizers
{rules}## Solvers
A solver minimizes the loss of all rows at once and runs until convergence.

{solvers}"""

REGULARIZERS = r"""# Regularizers, clipping, constraints, averages
Regularizers add a penalty to the loss, clipping limits the gradient before a step, constraints are applied to the
weights after a step, and averages are kept in addition to the weights.

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
A schedule multiplies the learning rate of step $t$, counted from 1, by a factor. The formulas define this factor
($\eta_0$ is the learning rate of the optimizer). Schedules can be multiplied and chained, and a function of the step is
a custom schedule:

```python
>>> import madaline as md
>>> warm = md.optim.schedules.LinearWarmup(2).then(md.optim.schedules.Cosine(), after=2)
>>> warm.table(6).round(3)
array([0.5  , 1.   , 1.   , 0.854, 0.5  , 0.146])
>>> md.optim.schedules.as_schedule(lambda t: 1 / t).table(4)
array([1.        , 0.5       , 0.33333333, 0.25      ])

```

`md.optim.schedules.Cosine().plot(1000)` draws a schedule (`pip install "madaline[plot]"`). These are all schedules that
do not depend on the course of training:

![every schedule](pictures/schedules.png)

## All schedules
{rules}"""

API = r"""# Public names
`import madaline as md` provides {count} names: those that most programs need, and the modules with the others. If a
name is in a module instead, the error message says so:

```python
>>> import madaline as md
>>> md.ShapeError
Traceback (most recent call last):
    ...
AttributeError: madaline has no attribute 'ShapeError'. Did you mean md.errors.ShapeError?

```

{table}
## Modules
Import from them as usual, `from madaline.nn import Swish`; `help(md.nn)` describes a module.

{modules}"""
