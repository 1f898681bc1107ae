// The opcodes of elementwise chains: for each a function of vectors (float32, float64) and, where it makes sense, of
// int64 and bool scalars. The loops around them are picked when a chain is added, by dtype and by which arguments are
// scalars, so running an op is one indirect call per block.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <utility>

#include "kernels/elementwise_math.h"
#include "kernels/program.h"

namespace madaline::MADALINE_ISA {

// X(name, functor, number of arguments, number of trailing ones that must be scalars)
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

enum class Opcode : int {
#define X(name, functor, n_args, n_scalars) name##_,
  MADALINE_OPCODES(X)
#undef X
};

struct OpcodeInfo {
  const char* name;
  int n_args, n_scalars;
};
inline constexpr OpcodeInfo kOpcodes[] = {
#define X(name, functor, n_args, n_scalars) {#name, n_args, n_scalars},
    MADALINE_OPCODES(X)
#undef X
};
inline constexpr int kOpcodeCount = static_cast<int>(std::size(kOpcodes));
inline constexpr int kMaxArgs = 6;

// slots[dst][0 .. n) = f(slots[args[0]][..], ...)
struct Op;
using BlockLoop = void (*)(void* const* slots, const Op& op, std::size_t n) noexcept;
struct Op {
  BlockLoop loop = nullptr;
  std::int16_t dst = -1;
  std::array<std::int16_t, kMaxArgs> args{};
};

// Bit k of kScalars says that argument k is one value for the whole block. dst may be the same block as an argument.
template <class T, class F, unsigned kScalars, std::size_t... K>
MADALINE_INLINE void block_loop(void* const* slots, const Op& op, std::size_t n, std::index_sequence<K...>) {
  T* y = static_cast<T*>(slots[op.dst]);
  const T* const x[] = {static_cast<const T*>(slots[op.args[K]])...};
  if constexpr (std::is_floating_point_v<T>) {
    constexpr std::size_t width = Vec<T>::width;
    const Vec<T> scalar[] = {kScalars >> K & 1 ? Vec<T>(*x[K]) : Vec<T>(T(0))...};
    std::size_t i = 0;
    for (; i + width <= n; i += width) {
      F{}((kScalars >> K & 1 ? scalar[K] : Vec<T>::load(x[K] + i))...).store(y + i);
    }
    if (i < n) {
      const int rest = static_cast<int>(n - i);
      F{}((kScalars >> K & 1 ? scalar[K] : Vec<T>::load_partial(x[K] + i, rest))...).store_partial(y + i, rest);
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) y[i] = F{}((kScalars >> K & 1 ? *x[K] : x[K][i])...);
  }
}
template <class T, class F, unsigned kScalars, std::size_t N>
void op_loop(void* const* slots, const Op& op, std::size_t n) noexcept {
  block_loop<T, F, kScalars>(slots, op, n, std::make_index_sequence<N>{});
}

template <class F, class T, std::size_t... K> constexpr bool supports(std::index_sequence<K...>) {
  using Argument = std::conditional_t<std::is_floating_point_v<T>, Vec<T>, T>;
  return std::is_invocable_v<F, std::conditional_t<(K < 100), Argument, void>...>;
}

// The loop for a set of scalar arguments. All scalar: the plain loop, which is then run with n = 1.
template <class T, class F, std::size_t N, unsigned... kScalars>
BlockLoop pick_scalars(unsigned scalars, std::integer_sequence<unsigned, kScalars...>) {
  constexpr BlockLoop loops[] = {op_loop<T, F, kScalars, N>...};
  return loops[scalars == (1u << N) - 1 ? 0 : scalars];
}

template <class T, class F, std::size_t N, std::size_t kFixed> BlockLoop pick_loop(unsigned scalars) {
  if constexpr (!supports<F, T>(std::make_index_sequence<N>{})) {
    return nullptr;
  } else if constexpr (kFixed > 0) {
    constexpr unsigned all = (1u << N) - 1, fixed = all & ~((1u << (N - kFixed)) - 1);
    return scalars == fixed || scalars == all ? op_loop<T, F, fixed, N> : nullptr;
  } else {
    return pick_scalars<T, F, N>(scalars, std::make_integer_sequence<unsigned, (1u << N) - 1>{});
  }
}

template <class T> BlockLoop block_loop_of(Opcode opcode, unsigned scalars) {
  switch (opcode) {
#define X(name, functor, n_args, n_scalars) \
  case Opcode::name##_: return pick_loop<T, functor, n_args, n_scalars>(scalars);
    MADALINE_OPCODES(X)
#undef X
  }
  return nullptr;
}

// y[0 .. n) = x[0]
inline BlockLoop fill_loop(DType dtype) {
  switch (dtype) {
    case DType::f32: return op_loop<float, Copy, 1, 1>;
    case DType::f64: return op_loop<double, Copy, 1, 1>;
    case DType::i64: return op_loop<std::int64_t, Copy, 1, 1>;
    case DType::boolean: return op_loop<std::uint8_t, Copy, 1, 1>;
  }
  return nullptr;
}

// Null if the opcode does not exist for the dtype, or needs scalars where vectors are given.
inline BlockLoop block_loop(Opcode opcode, DType dtype, unsigned scalars) {
  switch (dtype) {
    case DType::f32: return block_loop_of<float>(opcode, scalars);
    case DType::f64: return block_loop_of<double>(opcode, scalars);
    case DType::i64: return block_loop_of<std::int64_t>(opcode, scalars);
    case DType::boolean: return block_loop_of<std::uint8_t>(opcode, scalars);
  }
  return nullptr;
}

}  // namespace madaline::MADALINE_ISA
