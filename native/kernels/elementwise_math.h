// The functions of the elementwise opcodes. The float form takes vectors; the int64 form wraps on overflow; the bool
// form (one byte, 0 or 1) follows NumPy: add is or, multiply is and. Missing forms are not supported.
#pragma once

#include <cmath>
#include <concepts>

#include "kernels/simd.h"
#include "kernels/vector_math.h"

namespace madaline::MADALINE_ISA {

template <class T>
concept Int = std::same_as<T, std::int64_t>;
template <class T>
concept Bool = std::same_as<T, std::uint8_t>;
template <class T>
concept Discrete = Int<T> || Bool<T>;

// 1 where the mask is true, else 0.
template <class T> MADALINE_INLINE Vec<T> one_where(Mask<T> m) { return from_bits<T>(bits(m) & bits(Vec<T>(T(1)))); }
template <class T> MADALINE_INLINE Mask<T> nonzero(Vec<T> a) { return a != Vec<T>(T(0)); }
// int64 arithmetic modulo 2^64, without the undefined behaviour of signed overflow.
MADALINE_INLINE std::uint64_t raw(std::int64_t a) { return static_cast<std::uint64_t>(a); }
MADALINE_INLINE std::int64_t wrap(std::uint64_t a) { return static_cast<std::int64_t>(a); }

#define FLOAT1 template <class T> MADALINE_INLINE Vec<T> operator()(Vec<T> a) const
#define FLOAT2 template <class T> MADALINE_INLINE Vec<T> operator()(Vec<T> a, Vec<T> b) const
#define FLOAT3 template <class T> MADALINE_INLINE Vec<T> operator()(Vec<T> a, Vec<T> b, Vec<T> c) const
#define SCALAR1(Kind) template <Kind T> MADALINE_INLINE T operator()(T a) const
#define SCALAR2(Kind) template <Kind T> MADALINE_INLINE T operator()(T a, T b) const
#define SCALAR3(Kind) template <Kind T> MADALINE_INLINE T operator()(T a, T b, T c) const

struct Copy {
  FLOAT1 { return a; }
  SCALAR1(Discrete) { return a; }
};
struct Add {
  FLOAT2 { return a + b; }
  SCALAR2(Int) { return wrap(raw(a) + raw(b)); }
  SCALAR2(Bool) { return a | b; }
};
struct Subtract {
  FLOAT2 { return a - b; }
  SCALAR2(Int) { return wrap(raw(a) - raw(b)); }
};
struct Multiply {
  FLOAT2 { return a * b; }
  SCALAR2(Int) { return wrap(raw(a) * raw(b)); }
  SCALAR2(Bool) { return a & b; }
};
struct Divide {
  FLOAT2 { return a / b; }
};
struct Negative {
  FLOAT1 { return -a; }
  SCALAR1(Int) { return wrap(0 - raw(a)); }
};
struct Absolute {
  FLOAT1 { return abs(a); }
  SCALAR1(Int) { return a < 0 ? wrap(0 - raw(a)) : a; }
  SCALAR1(Bool) { return a; }
};
struct Sign {
  FLOAT1 { return select(is_nan(a), a, one_where(a > Vec<T>(T(0))) - one_where(a < Vec<T>(T(0)))); }
  SCALAR1(Int) { return (a > 0) - (a < 0); }
};
struct Square {
  FLOAT1 { return a * a; }
  SCALAR1(Int) { return wrap(raw(a) * raw(a)); }
};
struct Reciprocal {
  FLOAT1 { return Vec<T>(T(1)) / a; }
};
struct Sqrt {
  FLOAT1 { return MADALINE_ISA::sqrt(a); }
};
struct Relu {
  FLOAT1 { return maximum(a, Vec<T>(T(0))); }
  SCALAR1(Int) { return a > 0 ? a : 0; }
};
struct Maximum {
  FLOAT2 { return maximum(a, b); }
  SCALAR2(Discrete) { return b > a ? b : a; }
};
struct Minimum {
  FLOAT2 { return minimum(a, b); }
  SCALAR2(Discrete) { return b < a ? b : a; }
};
struct Floor {
  FLOAT1 { return MADALINE_ISA::floor(a); }
};
struct Ceil {
  FLOAT1 { return MADALINE_ISA::ceil(a); }
};
struct Trunc {
  FLOAT1 { return MADALINE_ISA::trunc(a); }
};
struct Rint {
  FLOAT1 { return MADALINE_ISA::rint(a); }
};
struct Copysign {
  FLOAT2 { return MADALINE_ISA::copysign(a, b); }
};

// Integer powers of integers; a negative exponent gives 1 / a rounded toward zero.
struct PowerOp : Power {
  using Power::operator();
  SCALAR2(Int) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    std::uint64_t result = 1, factor = raw(a);
    for (; b > 0; b >>= 1, factor *= factor) {
      if (b & 1) result *= factor;
    }
    return wrap(result);
  }
};

// Floor division. The quotient is rounded so that a = q b + r holds with Python's r, as in NumPy.
struct FloorDivide {
  template <class T> static T of(T a, T b) {
    if (b == 0) return a / b;
    const T r = std::fmod(a, b);
    T q = (a - r) / b;
    if (r != 0 && (b < 0) != (r < 0)) q -= T(1);
    if (q == 0) return std::copysign(T(0), a / b);
    const T whole = std::floor(q);
    return q - whole > T(0.5) ? whole + T(1) : whole;
  }
  FLOAT2 {
    return map_lanes([](T x, T y) { return of(x, y); }, a, b);
  }
  SCALAR2(Int) {
    if (b == 0) return 0;
    if (b == -1) return wrap(0 - raw(a));
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
  }
};
// The remainder of floor division, with the sign of b.
struct Remainder {
  template <class T> static T of(T a, T b) {
    const T r = std::fmod(a, b);
    if (b == 0) return r;
    if (r == 0) return std::copysign(T(0), b);
    return (b < 0) != (r < 0) ? r + b : r;
  }
  FLOAT2 {
    return map_lanes([](T x, T y) { return of(x, y); }, a, b);
  }
  SCALAR2(Int) {
    if (b == 0 || b == -1) return 0;
    const T r = a % b;
    return r != 0 && (a < 0) != (b < 0) ? r + b : r;
  }
};
// The remainder of division toward zero, with the sign of a.
struct Fmod {
  FLOAT2 {
    return map_lanes([](T x, T y) { return std::fmod(x, y); }, a, b);
  }
  SCALAR2(Int) { return b == 0 || b == -1 ? 0 : a % b; }
};

#define COMPARISON(Name, symbol)                \
  struct Name {                                 \
    FLOAT2 { return one_where(a symbol b); }    \
    SCALAR2(Discrete) { return T(a symbol b); } \
  };
COMPARISON(Equal, ==)
COMPARISON(NotEqual, !=)
COMPARISON(Less, <)
COMPARISON(LessEqual, <=)
COMPARISON(Greater, >)
COMPARISON(GreaterEqual, >=)
#undef COMPARISON

struct LogicalAnd {
  FLOAT2 { return one_where(nonzero(a) & nonzero(b)); }
  SCALAR2(Discrete) { return T((a != 0) & (b != 0)); }
};
struct LogicalOr {
  FLOAT2 { return one_where(nonzero(a) | nonzero(b)); }
  SCALAR2(Discrete) { return T((a != 0) | (b != 0)); }
};
struct LogicalXor {
  FLOAT2 { return one_where(nonzero(a) ^ nonzero(b)); }
  SCALAR2(Discrete) { return T((a != 0) != (b != 0)); }
};
struct LogicalNot {
  FLOAT1 { return one_where(!nonzero(a)); }
  SCALAR1(Discrete) { return T(a == 0); }
};
struct Isnan {
  FLOAT1 { return one_where(is_nan(a)); }
};
struct Isinf {
  FLOAT1 { return one_where(abs(a) == Vec<T>(T(INFINITY))); }
};
struct Isfinite {
  FLOAT1 { return one_where(abs(a) < Vec<T>(T(INFINITY))); }
};
struct Where {
  FLOAT3 { return select(nonzero(a), b, c); }
  SCALAR3(Discrete) { return a != 0 ? b : c; }
};

// Several operations in one pass over the block, each rounded separately: results are bit-identical to those of the
// single operations, wherever the planner fuses them. In cache, passes over memory cost more than the arithmetic.

// a b + c
struct MultiplyAdd {
  FLOAT3 { return a * b + c; }
  SCALAR3(Int) { return wrap(raw(a) * raw(b) + raw(c)); }
};

// For the optimizers' updates; s, t, u are scalars.
// s a + t b: a running mean of gradients.
struct ScaledSum {
  template <class T> MADALINE_INLINE Vec<T> operator()(Vec<T> a, Vec<T> b, Vec<T> s, Vec<T> t) const {
    return s * a + t * b;
  }
};
// s a + t b b: a running mean of their squares.
struct ScaledSumSquare {
  template <class T> MADALINE_INLINE Vec<T> operator()(Vec<T> a, Vec<T> b, Vec<T> s, Vec<T> t) const {
    return s * a + t * b * b;
  }
};
// a - s b / (sqrt(t c) + u): Adam's and RMSprop's step.
struct AdaptiveStep {
  template <class T>
  MADALINE_INLINE Vec<T> operator()(Vec<T> a, Vec<T> b, Vec<T> c, Vec<T> s, Vec<T> t, Vec<T> u) const {
    return a - s * b / (MADALINE_ISA::sqrt(t * c) + u);
  }
};

// Every opcode: X(name, functor, number of arguments, number of trailing ones that must be scalars). The tables of
// elementwise_ops.h and the names that Python sees follow from it.
// clang-format off
#define MADALINE_OPCODES(X)                                                                                            \
  X(copy, Copy, 1, 0) X(add, Add, 2, 0) X(subtract, Subtract, 2, 0) X(multiply, Multiply, 2, 0)                        \
  X(divide, Divide, 2, 0) X(power, PowerOp, 2, 0) X(negative, Negative, 1, 0) X(absolute, Absolute, 1, 0)              \
  X(sign, Sign, 1, 0) X(square, Square, 1, 0) X(reciprocal, Reciprocal, 1, 0) X(sqrt, Sqrt, 1, 0)                      \
  X(cbrt, Cbrt, 1, 0) X(exp, Exp, 1, 0) X(exp2, Exp2, 1, 0) X(expm1, Expm1, 1, 0) X(log, Log, 1, 0)                    \
  X(log2, Log2, 1, 0) X(log10, Log10, 1, 0) X(log1p, Log1p, 1, 0) X(sin, Sin, 1, 0) X(cos, Cos, 1, 0)                  \
  X(tan, Tan, 1, 0) X(arcsin, Arcsin, 1, 0) X(arccos, Arccos, 1, 0) X(arctan, Arctan, 1, 0) X(sinh, Sinh, 1, 0)        \
  X(cosh, Cosh, 1, 0) X(tanh, Tanh, 1, 0) X(arcsinh, Arcsinh, 1, 0) X(arccosh, Arccosh, 1, 0)                          \
  X(arctanh, Arctanh, 1, 0) X(arctan2, Arctan2, 2, 0) X(sigmoid, Sigmoid, 1, 0) X(softplus, Softplus, 1, 0)            \
  X(relu, Relu, 1, 0) X(erf, Erf, 1, 0) X(maximum, Maximum, 2, 0) X(minimum, Minimum, 2, 0) X(floor, Floor, 1, 0)      \
  X(ceil, Ceil, 1, 0) X(trunc, Trunc, 1, 0) X(rint, Rint, 1, 0) X(floor_divide, FloorDivide, 2, 0)                     \
  X(remainder, Remainder, 2, 0) X(fmod, Fmod, 2, 0) X(equal, Equal, 2, 0) X(not_equal, NotEqual, 2, 0)                 \
  X(less, Less, 2, 0) X(less_equal, LessEqual, 2, 0) X(greater, Greater, 2, 0)                                         \
  X(greater_equal, GreaterEqual, 2, 0) X(logical_and, LogicalAnd, 2, 0) X(logical_or, LogicalOr, 2, 0)                 \
  X(logical_xor, LogicalXor, 2, 0) X(logical_not, LogicalNot, 1, 0) X(isnan, Isnan, 1, 0) X(isinf, Isinf, 1, 0)        \
  X(isfinite, Isfinite, 1, 0) X(where, Where, 3, 0) X(copysign, Copysign, 2, 0)                                        \
  X(multiply_add, MultiplyAdd, 3, 0) X(scaled_sum, ScaledSum, 4, 2) X(scaled_sum_square, ScaledSumSquare, 4, 2)        \
  X(adaptive_step, AdaptiveStep, 6, 3)
// clang-format on

}  // namespace madaline::MADALINE_ISA
