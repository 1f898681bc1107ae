// Vectors of the widest registers this translation unit is compiled for.
//
// The kernels are compiled once for each instruction set, into separate modules. Everything lives in a namespace named
// after the set, so that no symbol of one build can be merged with that of another. Arithmetic is IEEE: no operation
// here reassociates, flushes denormals or drops a NaN, and a lane's result does not depend on its position.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/simd_isa.h"

namespace madaline::MADALINE_ISA {

// The signed integer as wide as T: lane type of masks and of reinterpreted bits.
template <class T> using BitsOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

// Defined for each type separately: GCC applies vector_size on a dependent type too late for overloading.
template <class T> struct NativeVector;
template <> struct NativeVector<float> {
  typedef float type __attribute__((vector_size(kVectorBytes)));
};
template <> struct NativeVector<double> {
  typedef double type __attribute__((vector_size(kVectorBytes)));
};
template <> struct NativeVector<std::int32_t> {
  typedef std::int32_t type __attribute__((vector_size(kVectorBytes)));
};
template <> struct NativeVector<std::int64_t> {
  typedef std::int64_t type __attribute__((vector_size(kVectorBytes)));
};
template <> struct NativeVector<std::uint32_t> {
  typedef std::uint32_t type __attribute__((vector_size(kVectorBytes)));
};
template <> struct NativeVector<std::uint64_t> {
  typedef std::uint64_t type __attribute__((vector_size(kVectorBytes)));
};

// The type to add, subtract and multiply in: unsigned for integers, so that they wrap instead of being undefined.
template <class T> struct WrappingType {
  using type = T;
};
template <std::integral T> struct WrappingType<T> {
  using type = std::make_unsigned_t<T>;
};

// For each lane of a Vec<T>, all ones (true) or all zeros (false).
template <class T> struct Mask {
  using Native = typename NativeVector<BitsOf<T>>::type;
  Native v;

  friend MADALINE_INLINE Mask operator&(Mask a, Mask b) { return {a.v & b.v}; }
  friend MADALINE_INLINE Mask operator|(Mask a, Mask b) { return {a.v | b.v}; }
  friend MADALINE_INLINE Mask operator^(Mask a, Mask b) { return {a.v ^ b.v}; }
  friend MADALINE_INLINE Mask operator!(Mask a) { return {~a.v}; }
};

// T is float, double, int32_t or int64_t; integers wrap. Scalars convert to a vector with that value in every lane.
template <class T> struct Vec {
  static constexpr int width = kVectorBytes / static_cast<int>(sizeof(T));
  using Native = typename NativeVector<T>::type;
  using Wrapping = typename NativeVector<typename WrappingType<T>::type>::type;
  using M = Mask<T>;
  Native v;

  Vec() = default;
  MADALINE_INLINE Vec(Native native) : v(native) {}
  MADALINE_INLINE Vec(T scalar) : v(scalar - Native{}) {}  // minus, since -0 + 0 would lose the sign

  MADALINE_INLINE T operator[](int lane) const { return v[lane]; }

  // p needs no alignment beyond that of T.
  static MADALINE_INLINE Vec load(const T* p) {
    Vec r;
    __builtin_memcpy(&r.v, p, sizeof r.v);
    return r;
  }
  MADALINE_INLINE void store(T* p) const { __builtin_memcpy(p, &v, sizeof v); }

  // The first n lanes, 0 <= n <= width; other lanes are read as 0 and not written. Touches no memory beyond p[n - 1].
  static MADALINE_INLINE Vec load_partial(const T* p, int n);
  MADALINE_INLINE void store_partial(T* p, int n) const;

  friend MADALINE_INLINE Vec operator+(Vec a, Vec b) { return (Native)((Wrapping)a.v + (Wrapping)b.v); }
  friend MADALINE_INLINE Vec operator-(Vec a, Vec b) { return (Native)((Wrapping)a.v - (Wrapping)b.v); }
  friend MADALINE_INLINE Vec operator*(Vec a, Vec b) { return (Native)((Wrapping)a.v * (Wrapping)b.v); }
  friend MADALINE_INLINE Vec operator/(Vec a, Vec b) { return a.v / b.v; }
  friend MADALINE_INLINE Vec operator-(Vec a) { return (Native)(-(Wrapping)a.v); }
  // Comparisons with NaN are false, except !=.
  friend MADALINE_INLINE M operator<(Vec a, Vec b) { return {(typename M::Native)(a.v < b.v)}; }
  friend MADALINE_INLINE M operator<=(Vec a, Vec b) { return {(typename M::Native)(a.v <= b.v)}; }
  friend MADALINE_INLINE M operator>(Vec a, Vec b) { return {(typename M::Native)(a.v > b.v)}; }
  friend MADALINE_INLINE M operator>=(Vec a, Vec b) { return {(typename M::Native)(a.v >= b.v)}; }
  friend MADALINE_INLINE M operator==(Vec a, Vec b) { return {(typename M::Native)(a.v == b.v)}; }
  friend MADALINE_INLINE M operator!=(Vec a, Vec b) { return {(typename M::Native)(a.v != b.v)}; }
  // Integers only; >> keeps the sign.
  friend MADALINE_INLINE Vec operator&(Vec a, Vec b) { return a.v & b.v; }
  friend MADALINE_INLINE Vec operator|(Vec a, Vec b) { return a.v | b.v; }
  friend MADALINE_INLINE Vec operator^(Vec a, Vec b) { return a.v ^ b.v; }
  friend MADALINE_INLINE Vec operator~(Vec a) { return ~a.v; }
  friend MADALINE_INLINE Vec operator<<(Vec a, int n) { return (Native)((Wrapping)a.v << n); }
  friend MADALINE_INLINE Vec operator>>(Vec a, int n) { return a.v >> n; }
};

// m ? a : b, lane by lane; both sides are computed.
template <class T>
MADALINE_INLINE Vec<T> select(Mask<T> m, std::type_identity_t<Vec<T>> a, std::type_identity_t<Vec<T>> b) {
  return m.v ? a.v : b.v;
}

template <class T> MADALINE_INLINE bool any(Mask<T> m) { return native_any(m.v); }
template <class T> MADALINE_INLINE bool all(Mask<T> m) { return !any(!m); }

// The lanes' bit patterns as integers, and back.
template <class T> MADALINE_INLINE Vec<BitsOf<T>> bits(Vec<T> a) { return (typename Vec<BitsOf<T>>::Native)a.v; }
template <class T> MADALINE_INLINE Vec<T> from_bits(Vec<BitsOf<T>> a) { return (typename Vec<T>::Native)a.v; }
template <class T> MADALINE_INLINE Vec<BitsOf<T>> bits(Mask<T> m) { return m.v; }

// a >> n filling with zeros; T is an integer.
template <class T> MADALINE_INLINE Vec<T> shift_right_logical(Vec<T> a, int n) {
  return (typename Vec<T>::Native)((typename Vec<T>::Wrapping)a.v >> n);
}

// Float to integer of the same width, toward zero (any value if it does not fit); integer to float, rounded to nearest.
template <class T> MADALINE_INLINE Vec<BitsOf<T>> to_int(Vec<T> a) {
  return __builtin_convertvector(a.v, typename Vec<BitsOf<T>>::Native);
}
template <class T> MADALINE_INLINE Vec<T> to_float(Vec<BitsOf<T>> a) {
  return __builtin_convertvector(a.v, typename Vec<T>::Native);
}

// 0, 1, 2 ...
template <class T> MADALINE_INLINE Vec<T> iota() {
  Vec<T> r;
  for (int i = 0; i < Vec<T>::width; ++i) r.v[i] = static_cast<T>(i);
  return r;
}

// f on each lane separately, for functions without a vector form.
template <class T, class F> MADALINE_INLINE Vec<T> map_lanes(F f, Vec<T> a) {
  for (int i = 0; i < Vec<T>::width; ++i) a.v[i] = f(a.v[i]);
  return a;
}
template <class T, class F> MADALINE_INLINE Vec<T> map_lanes(F f, Vec<T> a, Vec<T> b) {
  for (int i = 0; i < Vec<T>::width; ++i) a.v[i] = f(a.v[i], b.v[i]);
  return a;
}

// f on the lanes of m, y elsewhere. Out of line: it is called rarely and must not cost its caller registers.
template <class T, class F> __attribute__((noinline)) Vec<T> map_where(Mask<T> m, F f, Vec<T> x, Vec<T> y) {
  for (int i = 0; i < Vec<T>::width; ++i)
    if (m.v[i]) y.v[i] = f(x.v[i]);
  return y;
}

template <class T> MADALINE_INLINE Vec<T> Vec<T>::load_partial(const T* p, int n) {
#if defined(MADALINE_AVX512)
  if constexpr (sizeof(T) == 4) return (Native)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << n) - 1), p);
  else return (Native)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << n) - 1), p);
#elif defined(MADALINE_AVX2)
  const auto inside = (__m256i)(iota<BitsOf<T>>() < Vec<BitsOf<T>>(static_cast<BitsOf<T>>(n))).v;
  if constexpr (sizeof(T) == 4) return (Native)_mm256_maskload_epi32(reinterpret_cast<const int*>(p), inside);
  else return (Native)_mm256_maskload_epi64(reinterpret_cast<const long long*>(p), inside);
#else
  Vec r(T(0));
  for (int i = 0; i < n; ++i) r.v[i] = p[i];
  return r;
#endif
}

template <class T> MADALINE_INLINE void Vec<T>::store_partial(T* p, int n) const {
#if defined(MADALINE_AVX512)
  if constexpr (sizeof(T) == 4) _mm512_mask_storeu_epi32(p, static_cast<__mmask16>((1u << n) - 1), (__m512i)v);
  else _mm512_mask_storeu_epi64(p, static_cast<__mmask8>((1u << n) - 1), (__m512i)v);
#else
  // Pieces of 4, 2 and 1 lanes: a masked store takes a dozen cycles on AMD's cores.
  T lanes[width];
  store(lanes);
  if (n == width) return store(p);
  int i = 0;
  if constexpr (width >= 8) {
    if (n & 4) __builtin_memcpy(p, lanes, 4 * sizeof(T)), i = 4;
  }
  if constexpr (width >= 4) {
    if (n & 2) __builtin_memcpy(p + i, lanes + i, 2 * sizeof(T)), i += 2;
  }
  if (n & 1) p[i] = lanes[i];
#endif
}

// a * b + c, rounded once where kHasFma, else after each operation.
template <class T>
MADALINE_INLINE Vec<T> fma(Vec<T> a, std::type_identity_t<Vec<T>> b, std::type_identity_t<Vec<T>> c) {
  return (typename Vec<T>::Native)native_fma(a.v, b.v, c.v);
}

// c0 + c1 x + c2 x^2 + ... by Horner's rule. Separate even and odd parts would be 10% faster, but less accurate near
// |x| = 1.
template <class T> MADALINE_INLINE Vec<T> polynomial(Vec<T>, T c0) { return c0; }
template <class T, class... C> MADALINE_INLINE Vec<T> polynomial(Vec<T> x, T c0, C... higher) {
  return fma(polynomial(x, higher...), x, c0);
}

template <class T> MADALINE_INLINE Vec<T> sqrt(Vec<T> a) { return (typename Vec<T>::Native)native_sqrt(a.v); }

template <class T> MADALINE_INLINE Vec<T> sign_bit() { return T(-0.0); }

template <class T> MADALINE_INLINE Vec<T> abs(Vec<T> a) {
  if constexpr (std::integral<T>) return select(a < Vec<T>(T(0)), -a, a);
  else return from_bits<T>(bits(a) & ~bits(sign_bit<T>()));
}
// |a| with the sign of b.
template <class T> MADALINE_INLINE Vec<T> copysign(Vec<T> a, Vec<T> b) {
  return from_bits<T>((bits(a) & ~bits(sign_bit<T>())) | (bits(b) & bits(sign_bit<T>())));
}
template <class T> MADALINE_INLINE Mask<T> is_nan(Vec<T> a) { return a != a; }

// a > b ? a : b and a < b ? a : b. One instruction; b if either is NaN.
template <class T> MADALINE_INLINE Vec<T> larger(Vec<T> a, std::type_identity_t<Vec<T>> b) {
  if constexpr (std::integral<T>) return a.v > b.v ? a.v : b.v;
  else return (typename Vec<T>::Native)native_max(a.v, b.v);
}
template <class T> MADALINE_INLINE Vec<T> smaller(Vec<T> a, std::type_identity_t<Vec<T>> b) {
  if constexpr (std::integral<T>) return a.v < b.v ? a.v : b.v;
  else return (typename Vec<T>::Native)native_min(a.v, b.v);
}

// As np.maximum and np.minimum: NaN if either is NaN, a if they are equal.
template <class T> MADALINE_INLINE Vec<T> maximum(Vec<T> a, std::type_identity_t<Vec<T>> b) {
  if constexpr (std::integral<T>) return larger(b, a);
  else return select(is_nan(b), b, larger(b, a));
}
template <class T> MADALINE_INLINE Vec<T> minimum(Vec<T> a, std::type_identity_t<Vec<T>> b) {
  if constexpr (std::integral<T>) return smaller(b, a);
  else return select(is_nan(b), b, smaller(b, a));
}
// min(max(a, low), high); a NaN in a stays. low and high must be numbers.
template <class T>
MADALINE_INLINE Vec<T> clamp(Vec<T> a, std::type_identity_t<Vec<T>> low, std::type_identity_t<Vec<T>> high) {
  return smaller(high, larger(low, a));
}

// Rounding keeps the sign of zero, and infinities and NaN.
enum class Rounding { nearest_even = 0, down = 1, up = 2, toward_zero = 3 };  // numbered as x86 does

template <Rounding R, class T> MADALINE_INLINE Vec<T> round_to(Vec<T> a) {
#if defined(MADALINE_AVX512) || defined(MADALINE_AVX2)
  return (typename Vec<T>::Native)native_round < static_cast<int>(R) | 8 > (a.v);  // 8: raise no inexact flag
#else
  // Adding 2^(precision - 1) leaves no bits for a fraction, so the addition itself rounds to the nearest integer.
  const Vec<T> magnitude = abs(a), big = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
  Vec<T> r = (magnitude + big) - big;
  if constexpr (R == Rounding::toward_zero) r = select(r > magnitude, r - Vec<T>(T(1)), r);
  r = copysign(r, a);
  if constexpr (R == Rounding::down) r = copysign(select(r > a, r - Vec<T>(T(1)), r), a);
  if constexpr (R == Rounding::up) r = copysign(select(r < a, r + Vec<T>(T(1)), r), a);
  return select(magnitude < big, r, a);
#endif
}
template <class T> MADALINE_INLINE Vec<T> rint(Vec<T> a) { return round_to<Rounding::nearest_even>(a); }
template <class T> MADALINE_INLINE Vec<T> floor(Vec<T> a) { return round_to<Rounding::down>(a); }
template <class T> MADALINE_INLINE Vec<T> ceil(Vec<T> a) { return round_to<Rounding::up>(a); }
template <class T> MADALINE_INLINE Vec<T> trunc(Vec<T> a) { return round_to<Rounding::toward_zero>(a); }

// Reduces the lanes as a tree, upper half onto lower half. The order depends only on the width.
template <class T, class F> MADALINE_INLINE T fold_lanes(Vec<T> a, F f) {
  T lanes[Vec<T>::width];
  a.store(lanes);
  for (int half = Vec<T>::width / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lanes[i] = f(lanes[i], lanes[i + half]);
  return lanes[0];
}
template <class T> MADALINE_INLINE T horizontal_sum(Vec<T> a) {
  return fold_lanes(a, [](T x, T y) { return x + y; });
}
// NaN if any lane is NaN.
template <class T> MADALINE_INLINE T horizontal_max(Vec<T> a) {
  return fold_lanes(a, [](T x, T y) { return y > x || y != y ? y : x; });
}
template <class T> MADALINE_INLINE T horizontal_min(Vec<T> a) {
  return fold_lanes(a, [](T x, T y) { return y < x || y != y ? y : x; });
}

}  // namespace madaline::MADALINE_ISA
