// Elementary functions on vectors: y = f(x) lane by lane, with NumPy's limits and signs of zero.
//
// Each function is an overload for Vec<float> and Vec<double> (vector_math_f32.h, vector_math_f64.h, and the per-lane
// libm calls below) and a functor, so that a loop over blocks can take it as a type:
//   template <class F, class T> void map(F f, const T* x, T* y, int n);  ...  map(Tanh{}, x, y, n);
#pragma once

#include <cmath>

#include "kernels/simd.h"
#include "kernels/vector_math_f32.h"
#include "kernels/vector_math_f64.h"

namespace madaline::MADALINE_ISA {

#define MADALINE_LIBM_UNARY(name, libm)                          \
  template <class T> MADALINE_INLINE Vec<T> name(Vec<T> x) {     \
    return map_lanes([](T lane) { return std::libm(lane); }, x); \
  }
MADALINE_LIBM_UNARY(tan, tan)
MADALINE_LIBM_UNARY(sinh, sinh)
MADALINE_LIBM_UNARY(cosh, cosh)
MADALINE_LIBM_UNARY(arcsin, asin)
MADALINE_LIBM_UNARY(arccos, acos)
MADALINE_LIBM_UNARY(arctan, atan)
MADALINE_LIBM_UNARY(arcsinh, asinh)
MADALINE_LIBM_UNARY(arccosh, acosh)
MADALINE_LIBM_UNARY(arctanh, atanh)
MADALINE_LIBM_UNARY(cbrt, cbrt)
#undef MADALINE_LIBM_UNARY

template <class T> MADALINE_INLINE Vec<T> pow(Vec<T> x, Vec<T> y) {
  return map_lanes([](T a, T b) { return std::pow(a, b); }, x, y);
}
template <class T> MADALINE_INLINE Vec<T> arctan2(Vec<T> y, Vec<T> x) {
  return map_lanes([](T a, T b) { return std::atan2(a, b); }, y, x);
}

#define MADALINE_UNARY(Name, function)                                                           \
  struct Name {                                                                                  \
    template <class T> MADALINE_INLINE Vec<T> operator()(Vec<T> x) const { return function(x); } \
  };
MADALINE_UNARY(Exp, exp)
MADALINE_UNARY(Exp2, exp2)
MADALINE_UNARY(Expm1, expm1)
MADALINE_UNARY(Log, log)
MADALINE_UNARY(Log1p, log1p)
MADALINE_UNARY(Log2, log2)
MADALINE_UNARY(Log10, log10)
MADALINE_UNARY(Tanh, tanh)
MADALINE_UNARY(Sigmoid, sigmoid)
MADALINE_UNARY(Softplus, softplus)
MADALINE_UNARY(Erf, erf)
MADALINE_UNARY(Sin, sin)
MADALINE_UNARY(Cos, cos)
MADALINE_UNARY(Tan, tan)
MADALINE_UNARY(Sinh, sinh)
MADALINE_UNARY(Cosh, cosh)
MADALINE_UNARY(Arcsin, arcsin)
MADALINE_UNARY(Arccos, arccos)
MADALINE_UNARY(Arctan, arctan)
MADALINE_UNARY(Arcsinh, arcsinh)
MADALINE_UNARY(Arccosh, arccosh)
MADALINE_UNARY(Arctanh, arctanh)
MADALINE_UNARY(Cbrt, cbrt)
#undef MADALINE_UNARY

struct Power {
  template <class T> MADALINE_INLINE Vec<T> operator()(Vec<T> x, Vec<T> y) const { return pow(x, y); }
};
struct Arctan2 {
  template <class T> MADALINE_INLINE Vec<T> operator()(Vec<T> y, Vec<T> x) const { return arctan2(y, x); }
};

}  // namespace madaline::MADALINE_ISA
