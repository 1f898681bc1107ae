// Folds the lanes of a rows stage:  dst[i] = lane_0[i] op lane_1[i] op lane_2[i] ...,  offset <= i < offset + size, in
// this order. Lane 0 works in dst itself, so its values are already there.
#pragma once

#include <cmath>

#include "kernels/program.h"

namespace madaline::MADALINE_ISA {

enum class Reduction : int { sum, prod, max, min, logsumexp, argmax };
inline constexpr const char* kReductionNames[] = {"sum", "prod", "max", "min", "logsumexp", "argmax"};
inline constexpr int kReductionCount = 6;

// max and min propagate NaN.
template <class T> MADALINE_INLINE T fold_pair(Reduction op, T a, T b) {
  switch (op) {
    case Reduction::sum:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
      else return a + b;
    case Reduction::prod:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
      else return a * b;
    case Reduction::max: return b > a || b != b ? b : a;
    case Reduction::min: return b < a || b != b ? b : a;
    case Reduction::logsumexp:
      if constexpr (std::is_floating_point_v<T>) {
        const T larger = b > a || b != b ? b : a, smaller = b > a || b != b ? a : b;
        return std::isinf(larger) || larger != larger || smaller != smaller
                   ? larger + (smaller != smaller ? smaller : T(0))
                   : larger + std::log1p(std::exp(smaller - larger));
      }
      return a;
    default: return a;
  }
}

template <class T> T identity_of(Reduction op) {
  using Limits = std::numeric_limits<T>;
  switch (op) {
    case Reduction::prod: return T(1);
    case Reduction::max:
    case Reduction::logsumexp:
      if constexpr (Limits::has_infinity) return -Limits::infinity();
      else return Limits::lowest();
    case Reduction::min:
      if constexpr (Limits::has_infinity) return Limits::infinity();
      else if constexpr (std::is_same_v<T, std::uint8_t>) return T(1);  // bool: min is all()
      else return Limits::max();
    default: return T(0);
  }
}

// Elements [begin, end); lane l's values start at lanes + l * lane_bytes, but lane 0's are in dst. No lanes: the
// identity.
template <class T>
void combine_lanes(Reduction op, const char* lanes, std::size_t lane_bytes, std::int64_t n_lanes, T* dst,
                   std::int64_t begin, std::int64_t end) noexcept {
  constexpr std::int64_t block = 1024;
  for (std::int64_t i0 = begin; i0 < end; i0 += block) {
    const std::int64_t i1 = std::min(end, i0 + block);
    T* __restrict y = dst;
    if (n_lanes == 0) std::fill(y + i0, y + i1, identity_of<T>(op));
    for (std::int64_t l = 1; l < n_lanes; ++l) {
      const T* __restrict x = reinterpret_cast<const T*>(lanes + static_cast<std::size_t>(l) * lane_bytes);
      if (op == Reduction::sum)
        for (std::int64_t i = i0; i < i1; ++i) y[i] = fold_pair(Reduction::sum, y[i], x[i]);
      else
        for (std::int64_t i = i0; i < i1; ++i) y[i] = fold_pair(op, y[i], x[i]);
    }
  }
}

struct Combine {
  Reduction op;
  DType dtype;
  int lane;  // the lane buffer
  int dst;
  std::int64_t offset, size;
  std::int64_t lane_offset;  // offset of the lane buffer in a lane's arena, in bytes

  void run(const char* lanes, std::size_t lane_bytes, std::int64_t n_lanes, char* const* address, std::int64_t begin,
           std::int64_t end) const noexcept {
    const char* first = lanes + lane_offset;
    if (dtype == DType::f32)
      combine_lanes(op, first, lane_bytes, n_lanes, reinterpret_cast<float*>(address[dst]), begin, end);
    else if (dtype == DType::f64)
      combine_lanes(op, first, lane_bytes, n_lanes, reinterpret_cast<double*>(address[dst]), begin, end);
    else combine_lanes(op, first, lane_bytes, n_lanes, reinterpret_cast<std::int64_t*>(address[dst]), begin, end);
  }
};

}  // namespace madaline::MADALINE_ISA
