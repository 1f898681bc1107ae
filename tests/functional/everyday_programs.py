"""Further programs as NumPy users write them, with what only works where values are known while tracing.

Branches and loops on values, masks, arrays written in place, ``np.array`` of computed numbers. Each takes the namespace
it computes with and its argument.
"""

from __future__ import annotations

import numpy  # noqa: ICN001 - the functions take np as an argument

rng = numpy.random.default_rng(7)
X = rng.normal(size=(20, 3))
Y = X @ numpy.array([1.0, -2.0, 0.5]) + 0.1 * rng.normal(size=20)
LAB = (rng.random(20) > 0.5).astype(int)
S = numpy.cumsum(rng.normal(size=24)) * 0.3
IMG = rng.random((8, 8))
RET = 0.01 * rng.normal(size=(30, 4))
TIMES = numpy.sort(rng.exponential(size=15))
EVENT = rng.random(15) > 0.3
COV = rng.normal(size=(15, 2))


def kalman_2d(np, p):
    q, r = (np.exp(p[0]), np.exp(p[1]))
    F = np.array([[1.0, 1.0], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    x = np.array([p[2], p[3]])
    C = np.eye(2)
    ll = 0.0
    for z in S:
        x = F @ x
        C = F @ C @ F.T + q * np.eye(2)
        y = z - H @ x
        s = H @ C @ H.T + r
        K = C @ H.T @ np.linalg.inv(s)
        x = x + K @ y
        C = (np.eye(2) - K @ H) @ C
        ll += -0.5 * (np.log(2 * np.pi * s[0, 0]) + y[0] ** 2 / s[0, 0])
    return -ll


def hmm_forward_log(np, p):
    A = p - np.log(np.sum(np.exp(p), axis=1, keepdims=True))
    means = np.array([-1.0, 0.0, 1.0])
    la = -0.5 * (S[0] - means) ** 2 - np.log(3)
    for t in range(1, len(S)):
        m = la[:, None] + A
        mx = m.max(axis=0)
        la = mx + np.log(np.exp(m - mx).sum(axis=0)) - 0.5 * (S[t] - means) ** 2
    mx = la.max()
    return mx + np.log(np.exp(la - mx).sum())


def gp_cholesky(np, theta):
    amp, ls, noise = np.exp(theta)
    t = np.linspace(0, 1, 12)
    y = np.cos(4 * t)
    K = amp**2 * np.exp(-0.5 * np.subtract.outer(t, t) ** 2 / ls**2)
    K[np.diag_indices(12)] += noise**2
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return 0.5 * y.dot(a) + np.log(np.diag(L)).sum() + 6 * np.log(2 * np.pi)


def arma_likelihood(np, p):
    phi, theta, ls = p
    e = [S[0]]
    for t in range(1, len(S)):
        e.append(S[t] - phi * S[t - 1] - theta * e[-1])
    e = np.array(e)
    return np.sum(0.5 * (e / np.exp(ls)) ** 2 + ls)


def garch(np, p):
    w, a, b = (np.exp(p[0]), p[1], p[2])
    r = np.diff(S)
    h = np.var(r)
    nll = 0.0
    for x in r:
        nll += 0.5 * (np.log(h) + x**2 / h)
        h = w + a * x**2 + b * h
    return nll


def cox_partial(np, beta):
    eta = COV @ beta
    out = 0.0
    for i in range(len(TIMES)):
        if EVENT[i]:
            risk = eta[TIMES[i] <= TIMES]
            out += eta[i] - np.log(np.sum(np.exp(risk)))
    return -out


def huber_masks(np, w):
    r = Y - X @ w
    small = np.abs(r) < 1.0
    return np.sum(0.5 * r[small] ** 2) + np.sum(np.abs(r[~small]) - 0.5)


def em_step(np, p):
    mu, sd = (p[:2], np.abs(p[2:]))
    for _ in range(3):
        d = np.stack([np.exp(-0.5 * ((S - mu[k]) / sd[k]) ** 2) / sd[k] for k in range(2)])
        g = d / d.sum(0)
        n = g.sum(1)
        mu = g @ S / n
        sd = np.sqrt((g * (S - mu[:, None]) ** 2).sum(1) / n)
    return mu[0] * mu[1] + sd.sum()


def soft_kmeans(np, C):
    for _ in range(4):
        d2 = ((X[:, None, :2] - C[None]) ** 2).sum(-1)
        w = np.exp(-d2)
        w /= w.sum(axis=1, keepdims=True)
        C = (w[..., None] * X[:, None, :2]).sum(0) / w.sum(0)[:, None]
    return np.linalg.norm(C)


def gini(np, x):
    x = np.exp(x)
    s = np.sort(x)
    n = len(s)
    return 2 * np.sum(np.arange(1, n + 1) * s) / (n * s.sum()) - (n + 1) / n


def weighted_group_means(np, w):
    w = np.exp(w)
    tot = np.bincount(LAB, weights=w * Y, minlength=2) / np.bincount(LAB, weights=w, minlength=2)
    return (tot[0] - tot[1]) ** 2


def partial_correlation(np, z):
    A = np.column_stack([X, z])
    R = np.corrcoef(A, rowvar=False)
    Pm = np.linalg.inv(R)
    return -Pm[0, 3] / np.sqrt(Pm[0, 0] * Pm[3, 3])


def metropolis_ratio(np, p):
    def logp(z):
        return -0.5 * np.dot(z, z) - 0.1 * np.sum(z**4)

    z = p
    path = []
    noise = numpy.random.default_rng(3).normal(size=(6, 3))
    for e in noise:
        c = z + 0.3 * e
        if logp(c) - logp(z) > -0.5:
            z = c
        path.append(z)
    return np.sum(np.array(path) ** 2)


def rk4_spring(np, p):

    def f(y, t):
        return np.array([y[1], -y[0] - p[2] * y[1]])

    y = p[:2]
    h = 0.1
    for i in range(20):
        t = i * h
        k1 = f(y, t)
        k2 = f(y + h / 2 * k1, t + h / 2)
        k3 = f(y + h / 2 * k2, t + h / 2)
        k4 = f(y + h * k3, t + h)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y[0] ** 2 + y[1] ** 2


def lotka_volterra(np, p):
    a, b, c, d = p
    traj = [np.array([1.0, 1.0])]
    for _ in range(29):
        x, y = traj[-1]
        traj.append(traj[-1] + 0.02 * np.array([a * x - b * x * y, -c * y + d * x * y]))
    traj = np.array(traj)
    return np.mean((traj - 1.0) ** 2)


def n_body_loop(np, pos):
    n = len(pos)
    vel = 0.1 * pos
    for _ in range(3):
        acc = []
        for i in range(n):
            a = 0.0
            for j in range(n):
                if i != j:
                    d = pos[j] - pos[i]
                    a = a + d / (np.sum(d**2) + 0.1) ** 1.5
            acc.append(a)
        vel = vel + 0.1 * np.array(acc)
        pos = pos + 0.1 * vel
    return np.sum(vel**2)


def newton_root(np, a):
    x = 1.0
    for _ in range(50):
        fx = x**3 - a[0]
        if abs(fx) < 1e-13:
            break
        x = x - fx / (3 * x**2)
    return x


def fixed_point_while(np, p):
    x = np.cos(p[0])
    err = 1.0
    while err > 1e-12:
        new = np.cos(p[0] * x) + 0.1 * p[1]
        err = np.abs(new - x)
        x = new
    return x**2


def rotation_matrix(np, ang):
    a, b, c = ang
    Rx = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    Ry = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    Rz = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    v = Rz @ Ry @ Rx @ np.array([1.0, 2.0, 3.0])
    return v[0] * v[1] + v[2] ** 2


def ray_sphere(np, p):
    centre, radius = (p[:3], p[3])
    total = 0.0
    for u in np.linspace(-0.2, 0.2, 4):
        for v in np.linspace(-0.2, 0.2, 4):
            d = np.array([u, v, 1.0])
            d = d / np.linalg.norm(d)
            b = d @ centre
            disc = b**2 - centre @ centre + radius**2
            if disc > 0:
                t = b - np.sqrt(disc)
                n = (t * d - centre) / radius
                total += max(0.0, -n @ np.array([0.0, 0.0, 1.0]))
    return total


def jacobi_poisson(np, f):
    u = np.zeros_like(f)
    for _ in range(5):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - f[1:-1, 1:-1])
    return np.sum(u**2)


def tridiagonal_thomas(np, d):
    n = 5
    a, b, c = (-np.ones(n), 3 * np.ones(n), -np.ones(n))
    cp = [c[0] / b[0]]
    dp = [d[0] / b[0]]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp.append(c[i] / m)
        dp.append((d[i] - a[i] * dp[i - 1]) / m)
    x = [dp[-1]]
    for i in range(n - 2, -1, -1):
        x.insert(0, dp[i] - cp[i] * x[0])
    return np.sum(np.array(x) ** 2)


def polyfit_residual(np, y):
    x = np.linspace(0, 1, 9)
    c = np.polyfit(x, y, 2)
    return c[0] ** 2 + np.sum((np.polyval(c, x) - y) ** 2)


def natural_cubic_spline(np, y):
    n = 7
    h = 1.0
    A = np.diag(4.0 * np.ones(n - 2)) + np.diag(np.ones(n - 3), 1) + np.diag(np.ones(n - 3), -1)
    rhs = 6 * (y[2:] - 2 * y[1:-1] + y[:-2]) / h**2
    m = np.pad(np.linalg.solve(A, rhs), 1)
    xs = np.linspace(0.1, 5.9, 8)
    i = np.floor(xs).astype(int)
    t = xs - i
    s = (1 - t) * y[i] + t * y[i + 1] + ((1 - t) ** 3 - (1 - t)) * m[i] / 6 + (t**3 - t) * m[i + 1] / 6
    return np.sum(s**2)


def image_warp(np, p):
    ii, jj = np.meshgrid(np.arange(2, 6), np.arange(2, 6), indexing="ij")
    y = ii + p[0] + p[2] * (jj - 3.5)
    x = jj + p[1] - p[2] * (ii - 3.5)
    y0 = np.floor(y).astype(int)
    x0 = np.floor(x).astype(int)
    dy, dx = (y - y0, x - x0)
    out = (
        IMG[y0, x0] * (1 - dy) * (1 - dx)
        + IMG[y0 + 1, x0] * dy * (1 - dx)
        + IMG[y0, x0 + 1] * (1 - dy) * dx
        + IMG[y0 + 1, x0 + 1] * dy * dx
    )
    return np.sum((out - 0.5) ** 2)


def fft_filter(np, x):
    f = np.fft.rfft(x)
    freq = np.fft.rfftfreq(16)
    f = f * (freq < 0.25)
    return np.sum(np.fft.irfft(f, n=16) ** 2) + np.abs(f[1])


def iir_biquad(np, x):
    b0, b1, b2, a1, a2 = (0.2, 0.3, 0.2, -0.4, 0.2)
    y = np.zeros_like(x)
    for n in range(16):
        y[n] = b0 * x[n]
        if n >= 1:
            y[n] += b1 * x[n - 1] - a1 * y[n - 1]
        if n >= 2:
            y[n] += b2 * x[n - 2] - a2 * y[n - 2]
    return np.sum(y**2)


def soft_dtw(np, a):
    b = S[:5]
    n, m = (len(a), len(b))
    D = {}

    def smin(*v):
        v = np.stack(v)
        mn = np.min(v)
        return mn - np.log(np.sum(np.exp(-(v - mn))))

    for i, j in numpy.ndindex(n, m):
        c = (a[i] - b[j]) ** 2
        if i == 0 and j == 0:
            D[i, j] = c
        elif i == 0:
            D[i, j] = c + D[i, j - 1]
        elif j == 0:
            D[i, j] = c + D[i - 1, j]
        else:
            D[i, j] = c + smin(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n - 1, m - 1]


def autocorrelation(np, x):
    x = x - x.mean()
    ac = np.correlate(x, x, mode="full")[19:]
    ac /= ac[0]
    return np.sum(ac[1:6] ** 2)


def peak_picking(np, x):
    total = 0.0
    for i in range(1, 9):
        if x[i] > x[i - 1] and x[i] > x[i + 1]:
            total += x[i] ** 2
    return total


def risk_parity(np, z):
    w = np.exp(z)
    w /= w.sum()
    Sg = np.cov(RET, rowvar=False) * 10000.0
    rc = w * (Sg @ w) / np.sqrt(w @ Sg @ w)
    return np.sum(np.subtract.outer(rc, rc) ** 2)


def internal_rate(np, price):
    flows = np.array([5.0, 5.0, 5.0, 105.0])
    y = 0.05
    for _ in range(30):
        t = np.arange(1, 5)
        g = np.sum(flows / (1 + y) ** t) - price[0]
        dg = -np.sum(t * flows / (1 + y) ** (t + 1))
        y = y - g / dg
    return y


def value_at_risk(np, r):
    q = np.percentile(r, 10)
    return -q - np.mean(r[r <= q])


def drawdown_accumulate(np, r):
    v = np.cumprod(1 + r)
    return np.max(1 - v / np.maximum.accumulate(v))


def american_put_tree(np, p):
    n = 10
    dt = 0.1
    u = np.exp(p[1] * np.sqrt(dt))
    d = 1 / u
    pr = (np.exp(0.02 * dt) - d) / (u - d)
    j = np.arange(n + 1)
    v = np.maximum(101 - p[0] * u ** (2 * j - n), 0)
    for i in range(n - 1, -1, -1):
        j = np.arange(i + 1)
        v = np.exp(-0.02 * dt) * (pr * v[1:] + (1 - pr) * v[:-1])
        v = np.maximum(v, 101 - p[0] * u ** (2 * j - i))
    return v[0]


def lstm_cell(np, W):
    def sig(z):
        return 1 / (1 + np.exp(-z))

    h = c = 0.0
    for x in S[:8]:
        v = np.array([x, h, 1.0])
        i, f, o, g = W @ v
        c = sig(f) * c + sig(i) * np.tanh(g)
        h = sig(o) * np.tanh(c)
    return h**2 + c


def multi_head_attention(np, W):
    Z = X @ W
    heads = np.split(Z, 2, axis=1)
    outs = []
    for h in heads:
        s = h @ h.T / np.sqrt(h.shape[1])
        mask = np.triu(np.ones_like(s), 1).astype(bool)
        s = np.where(mask, -1000000000.0, s)
        a = np.exp(s - s.max(-1, keepdims=True))
        a = a / a.sum(-1, keepdims=True)
        outs.append(a @ h)
    return np.mean(np.concatenate(outs, axis=-1) ** 2)


def triplet_margin(np, E):
    d = np.sqrt(((E[:, None] - E[None]) ** 2).sum(-1) + 1e-09)
    loss = 0
    for a in range(4):
        for p in range(4):
            for n in range(4):
                if len({a, p, n}) == 3:
                    loss = loss + max(0, d[a, p] - d[a, n] + 0.2)
    return loss


def gumbel_topk(np, z):
    g = z + numpy.random.default_rng(2).gumbel(size=8)
    top = np.argsort(-g)[:3]
    return np.sum(z[top]) - np.log(np.sum(np.exp(z)))


def take_along_and_apply(np, A):
    order = np.argsort(A, axis=1)
    s = np.take_along_axis(A, order, axis=1)
    m = np.apply_along_axis(lambda r: np.dot(r, r) / np.sum(np.abs(r)), 1, A)
    return np.sum(s[:, -2:]) + np.prod(m)


def vectorized_activation(np, x):
    f = np.vectorize(lambda v: v if v > 0 else 0.1 * v)
    return np.sum(f(x) ** 2)


def list_of_scalars_norm(np, p):
    return np.linalg.norm([p[0] * p[1], p[1] - p[2], np.sin(p[2])]) + np.mean([p[0], p[2]])


def hstack_r(np, p):
    v = np.r_[1.0, p, p[0] ** 2]
    return np.sum(v * np.arange(5)) + np.sum(np.c_[p, p**2][:, 1])


PROGRAMS = {
    kalman_2d: numpy.array([0.1, 0.5, -0.3, 0.2]),
    hmm_forward_log: rng.normal(size=(3, 3)),
    gp_cholesky: numpy.array([0.2, -0.4, -1.0]),
    arma_likelihood: numpy.array([0.5, 0.3, -0.2]),
    garch: numpy.array([-2.0, 0.1, 0.8]),
    cox_partial: numpy.array([0.3, -0.2]),
    huber_masks: numpy.array([0.1, 0.4, -0.3]),
    em_step: numpy.array([0.3, 0.1, 1.2, 0.5]),
    soft_kmeans: rng.normal(size=(3, 2)),
    gini: rng.normal(size=6),
    weighted_group_means: rng.normal(size=20),
    partial_correlation: rng.normal(size=(20,)),
    metropolis_ratio: numpy.array([0.3, 0.2, 0.4]),
    rk4_spring: numpy.array([1.0, 0.0, 0.3]),
    lotka_volterra: numpy.array([1.5, 1.0, 3.0, 1.0]),
    n_body_loop: rng.normal(size=(3, 2)) * 2,
    newton_root: numpy.array([2.0]),
    fixed_point_while: numpy.array([0.7, 0.2]),
    rotation_matrix: numpy.array([0.3, 0.7, 1.1]),
    ray_sphere: numpy.array([0.1, -0.2, 2.5, 0.9]),
    jacobi_poisson: rng.normal(size=(6, 6)),
    tridiagonal_thomas: rng.normal(size=5),
    polyfit_residual: rng.normal(size=9),
    natural_cubic_spline: rng.normal(size=7),
    image_warp: numpy.array([0.3, 0.2, 0.1]),
    fft_filter: rng.normal(size=16),
    iir_biquad: rng.normal(size=16),
    soft_dtw: rng.normal(size=6),
    autocorrelation: rng.normal(size=20),
    peak_picking: rng.normal(size=10),
    risk_parity: numpy.array([0.1, 0.2, -0.1, 0.0]),
    internal_rate: numpy.array([98.0]),
    value_at_risk: rng.normal(size=30) * 0.02,
    drawdown_accumulate: rng.normal(size=12) * 0.05,
    american_put_tree: numpy.array([100.0, 0.2]),
    lstm_cell: rng.normal(size=(4, 3)) * 0.4,
    multi_head_attention: rng.normal(size=(3, 4)) * 0.3,
    triplet_margin: rng.normal(size=(4, 4)),
    gumbel_topk: rng.normal(size=8),
    take_along_and_apply: rng.normal(size=(4, 5)),
    vectorized_activation: numpy.array([0.3, -0.4, 0.8]),
    list_of_scalars_norm: numpy.array([0.5, 1.5, 2.5]),
    hstack_r: numpy.array([0.5, 1.5, 2.5]),
}
"""Every program with the point at which it is differentiated."""
