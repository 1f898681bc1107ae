// The opcodes of elementwise chains: each has a function of vectors (float32, float64) and, where it makes sense, of
// int64 and bool scalars. The loops around them are selected when a chain is added, by dtype and by which arguments are
// scalars, so running an op is one indirect call per block.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <utility>

#include "kernels/elementwise_math.h"
#include "kernels/program.h"

namespace madaline::MADALINE_ISA {

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

// If bit k of kScalars is set, argument k is one value for the whole block. dst may be the same block as an argument.
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

// Null if the opcode does not exist for the dtype, or if it needs scalars but gets vectors.
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
