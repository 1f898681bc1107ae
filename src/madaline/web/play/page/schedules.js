// Factors of the learning rate in step t of `total`; formulas of madaline.optim with their default parameters.

const SCHEDULES = {
  constant: () => 1,
  cosine: (t, total) => 0.5 * (1 + Math.cos(Math.PI * (t - 1) / total)),
  polynomial: (t, total) => 1 - (t - 1) / total,
  exponential: (t) => 0.999 ** (t - 1),
  inverse_time: (t) => 1 / (1 + 0.001 * t),
  inverse_root: (t) => 1 / Math.sqrt(1 + 0.001 * t),
  inverse_scaling: (t) => 1 / Math.sqrt(t),
  linear_warmup: (t) => Math.min(t / 100, 1),
};

export const rateOf = (settings, t, total) => settings.rate * SCHEDULES[settings.schedule](t, total);
