// Elementary functions on Vec<double>, within 4 units in the last place; notation as in vector_math_f32.h. Integers
// are made by shifts and by adding 2^52, never by conversion or arithmetic shift: below AVX-512 there is neither.
#pragma once

#include <cmath>

#include "kernels/simd.h"

namespace madaline::MADALINE_ISA::f64 {

// As in vector_math_f32.h: x = k ln2 + r, and shifting `shifted` left by 52 makes 2^(k + bias - 1023).
struct ExpReduced {
  Vec<double> k, r, shifted;
};
inline constexpr double kIntegerShift = 0x1.8p52;
inline constexpr double kLn2High = 0x1.62e42fefa4p-1, kLn2Low = -0x1.8432a1b0e2634p-43;  // k * kLn2High is exact

MADALINE_INLINE ExpReduced exp_reduce(Vec<double> x, double bias) {
  const Vec<double> shifted = fma(x, 0x1.71547652b82fep0, kIntegerShift + bias);
  const Vec<double> k = shifted - (kIntegerShift + bias);
  return {k, fma(k, -kLn2Low, fma(k, -kLn2High, x)), shifted};
}
// (e^r - 1 - r) / r^2
MADALINE_INLINE Vec<double> exp_tail(Vec<double> r) {
  return polynomial(r, 0.50000000000000056, 0.16666666666666616, 0.041666666666572302, 0.0083333333333640378,
                    0.0013888888933031569, 0.00019841269793701924, 2.4801503501009032e-05, 2.7557324132119618e-06,
                    2.7626739416353363e-07, 2.5084955881747777e-08);
}
MADALINE_INLINE Vec<double> exp_near_zero(Vec<double> r) { return fma(r * r, exp_tail(r), r) + 1.0; }

// y 2^k, where shifted was made with bias 2046: in two factors, so that results may be denormal.
MADALINE_INLINE Vec<double> scale_by_halves(Vec<double> y, Vec<double> shifted) {
  const Vec<std::int64_t> whole = bits(shifted), half = shift_right_logical(whole, 1);
  return y * from_bits<double>(half << 52) * from_bits<double>((whole - half) << 52);
}
// e^x where 2^-1022 <= e^x < 2^1023.
MADALINE_INLINE Vec<double> exp_normal(Vec<double> x) {
  const ExpReduced e = exp_reduce(x, 1023);
  return exp_near_zero(e.r) * from_bits<double>(bits(e.shifted) << 52);
}
// e^x for x <= 710.
MADALINE_INLINE Vec<double> exp_at_most_710(Vec<double> x) {
  const ExpReduced e = exp_reduce(larger(Vec<double>(-746.0), x), 2046);
  return scale_by_halves(exp_near_zero(e.r), e.shifted);
}

// (e^x - 1) / 2 = (s - 1/2) + s r + s r^2 q,  s = 2^(k-1), for x in [-40, 710]; halved, since 2^1024 is not a double.
MADALINE_INLINE Vec<double> half_expm1(Vec<double> x) {
  const ExpReduced e = exp_reduce(x, 1022);
  const Vec<double> s = from_bits<double>(bits(e.shifted) << 52), head = fma(s, e.r, s - 0.5);
  return fma(s * (e.r * e.r), exp_tail(e.r), head);
}

// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive normal x.
struct LogReduced {
  Vec<std::int64_t> k_plus_1023;
  Vec<double> k, f;
};
MADALINE_INLINE LogReduced log_reduce(Vec<double> x) {
  constexpr std::int64_t one = 0x3ff0000000000000, sqrt_half = 0x3fe6a09e667f3bcd, mantissa = 0xfffffffffffff;
  const Vec<std::int64_t> i = bits(x) + (one - sqrt_half), k_plus_1023 = shift_right_logical(i, 52);
  const Vec<double> k = from_bits<double>(k_plus_1023 | 0x4330000000000000) - (0x1p52 + 1023);
  return {k_plus_1023, k, from_bits<double>((i & mantissa) + sqrt_half) - 1.0};
}
// log(1 + f) - f = s (z R(z) - f),  s = f / (2 + f), z = s^2;  z R(z) = 2 atanh(s) / s - 2
MADALINE_INLINE Vec<double> log_tail(Vec<double> f) {
  const Vec<double> s = f / (f + 2.0), z = s * s;
  const Vec<double> R = polynomial(z, 0.6666666666666734, 0.39999999999416408, 0.28571428742115262, 0.22222198593147094,
                                   0.18183563603639538, 0.15314062569159392, 0.14795883432897181);
  return s * (z * R - f);
}
// combine(k, f, (log(1 + f) - f)), put right where the argument is denormal, 0, negative, infinite or NaN.
template <class F> MADALINE_INLINE Vec<double> log_with(Vec<double> x, F combine) {
  const Mask<double> tiny = x < 0x1p-1022;
  const LogReduced l = log_reduce(select(tiny, x * 0x1p52, x));
  const Vec<double> y = combine(l.k - select(tiny, 52.0, 0.0), l.f, log_tail(l.f));
  const Vec<double> outside = select(x == 0.0, -INFINITY, NAN);
  return select(x > 0.0, select(x < INFINITY, y, x), outside);
}
// k ln2 + log(1 + f)
MADALINE_INLINE Vec<double> log_sum(Vec<double> k, Vec<double> f, Vec<double> tail) {
  return fma(k, kLn2High, f + fma(k, kLn2Low, tail));
}

// x = k pi/2 + r, |r| <= pi/4. Three parts of pi/2, the first two short enough that their products with k are exact.
struct TrigReduced {
  Vec<std::int64_t> quadrant;
  Vec<double> r;
};
inline constexpr double kTrigLimit = 65536;  // beyond it, libm
MADALINE_INLINE TrigReduced trig_reduce(Vec<double> x) {
  const Vec<double> shifted = fma(x, 0x1.45f306dc9c883p-1, kIntegerShift), k = shifted - kIntegerShift;
  const Vec<double> r = fma(k, -0x1.0b4611a6p-34, fma(k, -0x1.921fb544p0, x));
  return {bits(shifted), fma(k, -0x1.3198a2e037073p-69, r)};
}
// sin(r + quadrant pi/2): r + r^3 q or 1 - r^2/2 + r^4 q.
MADALINE_INLINE Vec<double> sin_of_quadrant(Vec<std::int64_t> quadrant, Vec<double> r) {
  const Vec<double> z = r * r;
  const Vec<double> sine = fma(r * z,
                               polynomial(z, -0.1666666666666663, 0.0083333333333218407, -0.00019841269829358571,
                                          2.7557313538640552e-06, -2.5050734443293361e-08, 1.5895439376798718e-10),
                               r);
  const Vec<double> cosine = fma(z * z,
                                 polynomial(z, 0.041666666666666595, -0.0013888888888873307, 2.4801587288965311e-05,
                                            -2.7557314203135514e-07, 2.0875703152460464e-09, -1.1358617976947486e-11),
                                 fma(z, -0.5, 1.0));
  const Mask<double> odd = {((quadrant & 1) != 0).v};
  return from_bits<double>(bits(select(odd, cosine, sine)) ^ ((quadrant & 2) << 62));
}

}  // namespace madaline::MADALINE_ISA::f64

namespace madaline::MADALINE_ISA {

MADALINE_INLINE Vec<double> exp(Vec<double> x) { return f64::exp_at_most_710(smaller(Vec<double>(710.0), x)); }

MADALINE_INLINE Vec<double> exp2(Vec<double> x) {
  x = clamp(x, -1076, 1025);
  const Vec<double> shifted = x + (f64::kIntegerShift + 2046), k = shifted - (f64::kIntegerShift + 2046);
  return f64::scale_by_halves(f64::exp_near_zero((x - k) * 0x1.62e42fefa39efp-1), shifted);
}

MADALINE_INLINE Vec<double> expm1(Vec<double> x) {
  const Vec<double> half = f64::half_expm1(clamp(x, -40, 710));
  return select(abs(x) < 0x1p-54, x, half + half);  // keeps -0, and the bits of denormals
}

MADALINE_INLINE Vec<double> log(Vec<double> x) {
  return f64::log_with(x, [](Vec<double> k, Vec<double> f, Vec<double> tail) { return f64::log_sum(k, f, tail); });
}
MADALINE_INLINE Vec<double> log2(Vec<double> x) {
  return f64::log_with(
      x, [](Vec<double> k, Vec<double> f, Vec<double> tail) { return fma(f + tail, 0x1.71547652b82fep0, k); });
}
MADALINE_INLINE Vec<double> log10(Vec<double> x) {
  return f64::log_with(x, [](Vec<double> k, Vec<double> f, Vec<double> tail) {
    return fma(k, 0x1.34413509f8p-2, fma(f + tail, 0x1.bcb7b1526e50ep-2, k * -0x1.80433b83b532ap-44));
  });
}

// u = 1 + x loses c = x - (u - 1); with u = 2^k m it comes back as 1 + f = m + 2^-k c.
MADALINE_INLINE Vec<double> log1p(Vec<double> x) {
  const Vec<double> u = x + 1.0, c = x - (u - 1.0);
  const f64::LogReduced l = f64::log_reduce(u);
  const Vec<double> scale = from_bits<double>(0x7ff0000000000000 - (l.k_plus_1023 << 52));  // 2^(1-k), for k <= 1024
  const Vec<double> f = fma(c * 0.5, scale, l.f);
  const Vec<double> y = select(abs(x) < 0x1p-54, x, f64::log_sum(l.k, f, f64::log_tail(f)));
  const Vec<double> outside = select(x == -1.0, -INFINITY, NAN);
  return select(x > -1.0, select(x < INFINITY, y, x), outside);
}

// t / (t + 1) with t = (e^(2|x|) - 1) / 2, and the sign of x.
MADALINE_INLINE Vec<double> tanh(Vec<double> x) {
  const Vec<double> a = abs(x), t = f64::half_expm1(smaller(Vec<double>(44.0), a + a));
  return copysign(t / (t + 1.0), x);
}

// z = e^(-|x|):  1 / (1 + z) for x >= 0, z / (1 + z) for x < 0.
MADALINE_INLINE Vec<double> sigmoid(Vec<double> x) {
  const Vec<double> z = f64::exp_at_most_710(-abs(x));
  return select(x < 0.0, z, 1.0) / (z + 1.0);
}

// log(1 + e^x) = max(x, 0) + log(1 + z),  z = e^(-|x|);  as log_tail, but one R(w) for all of [0, 1].
MADALINE_INLINE Vec<double> softplus(Vec<double> x) {
  const Vec<double> z = f64::exp_at_most_710(-abs(x)), s = z / (z + 2.0), w = s * s;
  const Vec<double> R = polynomial(w, 0.66666666666666308, 0.40000000000156244, 0.28571428547951383,
                                   0.22222223964863955, 0.18181744065652347, 0.15386557428994599, 0.13301001061179688,
                                   0.12105903098447091, 0.083407763466882279, 0.17017523701872009);
  return larger(Vec<double>(0.0), x) + fma(s, w * R - z, z);
}

// x + x q(x^2) below 1, else 1 - e^(p(|x| - 1)) with the sign of x; p approximates log(erfc).
MADALINE_INLINE Vec<double> erf(Vec<double> x) {
  const Vec<double> a = abs(x);
  const Vec<double> q =
      polynomial(x * x, 0.12837916709551256, -0.3761263890318341, 0.11283791670942123, -0.026866170643087273,
                 0.0052239776077104639, -0.00085483260646909264, 0.00012055298819140119, -1.4924828285207533e-05,
                 1.6448685879183957e-06, -1.6218814846729236e-07, 1.3766594945277809e-08, -7.8847951947060708e-10);
  const Vec<double> p =
      polynomial(smaller(Vec<double>(5.93), a) - 1.0, -1.8496055099332485, -2.6389675142347171, -0.84310725636266892,
                 -0.041561097956081997, 0.010033824434563127, -0.0019778964888741138, 0.00023729721157364063,
                 2.6349197651321479e-05, -2.7300891072315879e-05, 9.8122887019285425e-06, -2.273550908750336e-06,
                 3.0875975460192848e-07, 2.4904249009760922e-09, -1.2116416456803334e-08, 2.8377627395518767e-09,
                 -3.1803077575816653e-10, 1.4954465347327307e-11);
  return select(a < 1.0, fma(x, q, x), copysign(1.0 - f64::exp_normal(p), x));
}

MADALINE_INLINE Vec<double> sin(Vec<double> x) {
  const f64::TrigReduced t = f64::trig_reduce(x);
  const Vec<double> y = select(abs(x) < 0x1p-27, x, f64::sin_of_quadrant(t.quadrant, t.r));
  const Mask<double> far = abs(x) > f64::kTrigLimit;
  return any(far) ? map_where(far, [](double lane) { return std::sin(lane); }, x, y) : y;
}
MADALINE_INLINE Vec<double> cos(Vec<double> x) {
  const f64::TrigReduced t = f64::trig_reduce(x);
  const Vec<double> y = f64::sin_of_quadrant(t.quadrant + 1, t.r);
  const Mask<double> far = abs(x) > f64::kTrigLimit;
  return any(far) ? map_where(far, [](double lane) { return std::cos(lane); }, x, y) : y;
}

}  // namespace madaline::MADALINE_ISA
