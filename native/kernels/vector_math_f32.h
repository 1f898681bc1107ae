// Elementary functions on Vec<float>, within 2 units in the last place of the true result for every float, denormals
// included (log10: 2.1); tests/test_vector_math.cpp --exhaustive shows it. Nothing here relies on fma rounding once.
//
// Notation: k is an integer, r the reduced argument, q a minimax polynomial (computed for these formulas with the
// Remez exchange, coefficients rounded one after the other, lowest first).
#pragma once

#include <cmath>

#include "kernels/simd.h"

namespace madaline::MADALINE_ISA::f32 {

// x = k ln2 + r with |r| <= ln2 / 2. `shifted` is k + kIntegerShift + bias: the addition rounds to an integer and
// leaves k + bias in the low bits, so that shifting them left by 23 makes the float 2^(k + bias - 127).
struct ExpReduced {
  Vec<float> k, r, shifted;
};
inline constexpr float kIntegerShift = 0x1.8p23f;
inline constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;  // k * kLn2High is exact

MADALINE_INLINE ExpReduced exp_reduce(Vec<float> x, float bias) {
  const Vec<float> shifted = fma(x, 0x1.715476p0f, kIntegerShift + bias);
  const Vec<float> k = shifted - (kIntegerShift + bias);
  return {k, fma(k, -kLn2Low, fma(k, -kLn2High, x)), shifted};
}
// (e^r - 1 - r) / r^2
MADALINE_INLINE Vec<float> exp_tail(Vec<float> r) {
  return polynomial(r, 0.49999997f, 0.16666539f, 0.0416677445f, 0.00836713891f, 0.00138369261f);
}
MADALINE_INLINE Vec<float> exp_near_zero(Vec<float> r) { return fma(r * r, exp_tail(r), r) + 1.0f; }
MADALINE_INLINE Vec<float> power_of_two(Vec<float> shifted) { return from_bits<float>(bits(shifted) << 23); }

// y 2^k for k in [-252, 256], where shifted was made with bias 254: in two factors, so that results may be denormal.
MADALINE_INLINE Vec<float> scale_by_halves(Vec<float> y, Vec<float> shifted) {
  const Vec<std::int32_t> whole = bits(shifted), half = shift_right_logical(whole, 1);
  return y * from_bits<float>(half << 23) * from_bits<float>((whole - half) << 23);
}

// e^(-|x|) and its last rounding error, relative to it (accurate to 40%, since the difference is not divided by the
// value). Functions of it add this fraction back, to stay within 2 units after their own rounding.
struct ExpWithRest {
  Vec<float> value, rest;
};
MADALINE_INLINE ExpWithRest exp_of_minus_abs(Vec<float> x) {
  const ExpReduced e = exp_reduce(larger(Vec<float>(-104.0f), -abs(x)), 254);
  const Vec<float> expm1 = fma(e.r * e.r, exp_tail(e.r), e.r), exp = expm1 + 1.0f;
  return {scale_by_halves(exp, e.shifted), expm1 - (exp - 1.0f)};
}
// e^x where 2^-126 <= e^x < 2^127.
MADALINE_INLINE Vec<float> exp_normal(Vec<float> x) {
  const ExpReduced e = exp_reduce(x, 127);
  return exp_near_zero(e.r) * power_of_two(e.shifted);
}

// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive normal x.
struct LogReduced {
  Vec<std::int32_t> k;
  Vec<float> f;
};
MADALINE_INLINE LogReduced log_reduce(Vec<float> x) {
  constexpr std::int32_t sqrt_half = 0x3f3504f3;
  const Vec<std::int32_t> i = bits(x) - sqrt_half;
  return {i >> 23, from_bits<float>((i & 0x7fffff) + sqrt_half) - 1.0f};
}
// (log(1 + f) - f) / f^2 on [sqrt(1/2) - 1, sqrt(2) - 1]
MADALINE_INLINE Vec<float> log_tail(Vec<float> f) {
  return polynomial(f, -0.499999881f, 0.333333224f, -0.250016093f, 0.200022459f, -0.166086093f, 0.141753197f,
                    -0.132402286f, 0.129505336f, -0.0768957064f);
}
// combine(k, f, (log(1 + f) - f)), put right where the argument is denormal, 0, negative, infinite or NaN.
template <class F> MADALINE_INLINE Vec<float> log_with(Vec<float> x, F combine) {
  const Mask<float> tiny = x < 0x1p-126f;
  const LogReduced l = log_reduce(select(tiny, x * 0x1p23f, x));
  const Vec<float> k = to_float<float>(l.k) - select(tiny, 23.0f, 0.0f);
  const Vec<float> y = combine(k, l.f, l.f * l.f * log_tail(l.f));
  const Vec<float> outside = select(x == 0.0f, -INFINITY, NAN);
  return select(x > 0.0f, select(x < INFINITY, y, x), outside);
}
// k ln2 + log(1 + f)
MADALINE_INLINE Vec<float> log_sum(Vec<float> k, Vec<float> f, Vec<float> tail) {
  return fma(k, kLn2High, f + fma(k, kLn2Low, tail));
}

// x = k pi/2 + r + rest, |r| <= pi/4, rest below the last place of r unless both are small. Four parts of pi/2, the
// first three short enough that their products with k are exact.
struct TrigReduced {
  Vec<std::int32_t> quadrant;
  Vec<float> r, rest;
};
inline constexpr float kTrigLimit = 8192;  // beyond it, libm
MADALINE_INLINE TrigReduced trig_reduce(Vec<float> x) {
  const Vec<float> shifted = fma(x, 0x1.45f306p-1f, kIntegerShift), k = shifted - kIntegerShift;
  const Vec<float> coarse = fma(k, -0x1.fb4p-12f, fma(k, -0x1.92p0f, x)), r = fma(k, -0x1.444p-24f, coarse);
  return {bits(shifted), r, fma(k, -0x1.68c234p-39f, fma(k, -0x1.444p-24f, coarse - r))};
}
// sin(r + rest + quadrant pi/2): r + (r^3 q + rest) or 1 - r^2/2 + (r^4 q - r rest).
MADALINE_INLINE Vec<float> sin_of_quadrant(Vec<std::int32_t> quadrant, Vec<float> r, Vec<float> rest) {
  const Vec<float> z = r * r;
  const Vec<float> sine = r + fma(r * z, polynomial(z, -0.166666552f, 0.00833218731f, -0.000195178975f), rest);
  const Vec<float> cosine_tail = fma(z * z, polynomial(z, 0.0416666456f, -0.00138873095f, 2.44323273e-05f), -r * rest);
  const Vec<float> cosine = fma(z, -0.5f, 1.0f) + cosine_tail;
  const Mask<float> odd = {((quadrant & 1) != 0).v};
  return from_bits<float>(bits(select(odd, cosine, sine)) ^ ((quadrant & 2) << 30));
}

}  // namespace madaline::MADALINE_ISA::f32

namespace madaline::MADALINE_ISA {

MADALINE_INLINE Vec<float> exp(Vec<float> x) {
  const f32::ExpReduced e = f32::exp_reduce(clamp(x, -104, 89), 254);
  return f32::scale_by_halves(f32::exp_near_zero(e.r), e.shifted);
}

MADALINE_INLINE Vec<float> exp2(Vec<float> x) {
  x = clamp(x, -151, 129);
  const Vec<float> shifted = x + (f32::kIntegerShift + 254), k = shifted - (f32::kIntegerShift + 254);
  return f32::scale_by_halves(f32::exp_near_zero((x - k) * 0x1.62e43p-1f), shifted);
}

// e^x - 1 = 2 ((s - 1/2) + s r + s r^2 q),  s = 2^(k-1). Half of the result is computed, since 2^128 is not a float.
// The first sum cancels without error if k is -1 or 1.
MADALINE_INLINE Vec<float> expm1(Vec<float> x) {
  const f32::ExpReduced e = f32::exp_reduce(clamp(x, -18, 89), 126);
  const Vec<float> s = f32::power_of_two(e.shifted), head = fma(s, e.r, s - 0.5f);
  const Vec<float> half = fma(s * (e.r * e.r), f32::exp_tail(e.r), head);
  return select(abs(x) < 0x1p-25f, x, half + half);  // keeps -0, and the bits of denormals
}

MADALINE_INLINE Vec<float> log(Vec<float> x) {
  return f32::log_with(x, [](Vec<float> k, Vec<float> f, Vec<float> tail) { return f32::log_sum(k, f, tail); });
}
MADALINE_INLINE Vec<float> log2(Vec<float> x) {
  return f32::log_with(x, [](Vec<float> k, Vec<float> f, Vec<float> tail) { return fma(f + tail, 0x1.715476p0f, k); });
}
MADALINE_INLINE Vec<float> log10(Vec<float> x) {
  return f32::log_with(x, [](Vec<float> k, Vec<float> f, Vec<float> tail) {
    return fma(k, 0x1.344p-2f, fma(f + tail, 0x1.bcb7b2p-2f, k * 0x1.3509f8p-18f));
  });
}

// u = 1 + x loses c = x - (u - 1); with u = 2^k m it comes back as 1 + f = m + 2^-k c.
MADALINE_INLINE Vec<float> log1p(Vec<float> x) {
  const Vec<float> u = x + 1.0f, c = x - (u - 1.0f);
  f32::LogReduced l = f32::log_reduce(u);
  const Vec<float> scale = from_bits<float>(0x40000000 - (l.k << 23));  // 2^(1-k), since 2^-k may underflow: k <= 128
  const Vec<float> f = fma(c * 0.5f, scale, l.f);
  Vec<float> y = f32::log_sum(to_float<float>(l.k), f, f * f * f32::log_tail(f));
  y = select(abs(x) < 0x1p-25f, x, y);
  const Vec<float> outside = select(x == -1.0f, -INFINITY, NAN);
  return select(x > -1.0f, select(x < INFINITY, y, x), outside);
}

// a + a^3 q(a^2) below a = |x| = 0.625, else 1 - 2 / (e^(2a) + 1); with the sign of x.
MADALINE_INLINE Vec<float> tanh(Vec<float> x) {
  const Vec<float> a = abs(x), z = a * a;
  const Vec<float> q = polynomial(z, -0.333332807f, 0.133314058f, -0.0537365153f, 0.0206282027f, -0.00569239398f);
  const Vec<float> near = fma(a * z, q, a);
  const Vec<float> far = 1.0f - 2.0f / (f32::exp_normal(smaller(Vec<float>(20.0f), a + a)) + 1.0f);
  return copysign(select(a < 0.625f, near, far), x);
}

// z = e^(-|x|):  1 / (1 + z) for x >= 0, z / (1 + z) for x < 0. Where z < 1/2 the latter is z - z^2 / (1 + z), which
// has a smaller rounding error and includes the rest of z.
MADALINE_INLINE Vec<float> sigmoid(Vec<float> x) {
  const f32::ExpWithRest z = f32::exp_of_minus_abs(x);
  const Mask<float> far = x < -0.693147f;
  const Vec<float> ratio = select((x < 0.0f) & !far, z.value, 1.0f) / (z.value + 1.0f);
  return select(far, fma(z.value, z.rest - z.value * ratio, z.value), ratio);
}

// log(1 + e^x) = max(x, 0) + log(1 + z),  z = e^(-|x|);  log(1 + z) = z + z^2 q(z) on [0, 1], the largest term added
// last. The rest of z counts half: dlog(1 + z)/dz is 1/2 at z = 1, where it matters most.
MADALINE_INLINE Vec<float> softplus(Vec<float> x) {
  const f32::ExpWithRest z = f32::exp_of_minus_abs(x);
  const Vec<float> q = polynomial(z.value, -0.499999911f, 0.333328009f, -0.24989821f, 0.19905135f, -0.161538616f,
                                  0.125188947f, -0.0837602764f, 0.0425372012f, -0.0138829378f, 0.00212162524f);
  const Vec<float> head = fma(z.rest * 0.5f, z.value, larger(Vec<float>(0.0f), x));
  return fma(z.value, z.value * q, head) + z.value;
}

// x + x q(x^2) below 0.875, else 1 - e^(p(|x|)) with the sign of x; p approximates log(erfc).
MADALINE_INLINE Vec<float> erf(Vec<float> x) {
  const Vec<float> a = abs(x);
  const Vec<float> q = polynomial(x * x, 0.128379166f, -0.376126319f, 0.112836882f, -0.0268596187f, 0.00520242192f,
                                  -0.000816386368f, 8.47272604e-05f);
  const Vec<float> p = polynomial(smaller(Vec<float>(3.95f), a), -0.000133607202f, -1.12793601f, -0.636737406f,
                                  -0.104327381f, 0.0224201754f, -0.00309228711f, 0.000200996525f);
  return select(a < 0.875f, fma(x, q, x), copysign(1.0f - f32::exp_normal(p), x));
}

MADALINE_INLINE Vec<float> sin(Vec<float> x) {
  const f32::TrigReduced t = f32::trig_reduce(x);
  const Vec<float> y = select(abs(x) < 0x1p-13f, x, f32::sin_of_quadrant(t.quadrant, t.r, t.rest));
  const Mask<float> far = abs(x) > f32::kTrigLimit;
  return any(far) ? map_where(far, [](float lane) { return std::sin(lane); }, x, y) : y;
}
MADALINE_INLINE Vec<float> cos(Vec<float> x) {
  const f32::TrigReduced t = f32::trig_reduce(x);
  const Vec<float> y = f32::sin_of_quadrant(t.quadrant + 1, t.r, t.rest);
  const Mask<float> far = abs(x) > f32::kTrigLimit;
  return any(far) ? map_where(far, [](float lane) { return std::cos(lane); }, x, y) : y;
}

}  // namespace madaline::MADALINE_ISA
