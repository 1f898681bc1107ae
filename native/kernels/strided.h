// Copies between strided memory, converting on the way:  dst[i, j] = (D) src[i, j],  i < m, j < n.
// src and dst may be the same elements; otherwise they must not overlap. To bool: non-zero (including NaN) is 1. Float
// to integer: toward zero; NaN and values out of range give the smallest int64, as in NumPy on x86.
#pragma once

#include <cstring>

#include "kernels/program.h"

namespace madaline::MADALINE_ISA {

using CopyLoop = void (*)(const void* src, std::int64_t src_m, std::int64_t src_n, void* dst, std::int64_t dst_m,
                          std::int64_t dst_n, std::int64_t m, std::int64_t n) noexcept;

template <class D, class S> MADALINE_INLINE D convert(S x) {
  if constexpr (std::is_same_v<D, S>) return x;
  else if constexpr (std::is_same_v<D, std::uint8_t>) return x != S(0);
  else if constexpr (std::is_same_v<D, std::int64_t> && std::is_floating_point_v<S>)
    return x >= S(-0x1p63) && x < S(0x1p63) ? static_cast<D>(x) : std::numeric_limits<D>::min();
  else return static_cast<D>(x);
}

// Square blocks that are small enough for the cache lines of both sides to stay in L1 until they are fully used.
template <class D, class S>
void copy_transposed(const S* src, std::int64_t src_n, D* dst, std::int64_t dst_m, std::int64_t m,
                     std::int64_t n) noexcept {
  constexpr std::int64_t block = 16;
  for (std::int64_t i0 = 0; i0 < m; i0 += block) {
    const std::int64_t i1 = std::min(m, i0 + block);
    for (std::int64_t j0 = 0; j0 < n; j0 += block) {
      const std::int64_t j1 = std::min(n, j0 + block);
      for (std::int64_t i = i0; i < i1; ++i)
        for (std::int64_t j = j0; j < j1; ++j) dst[i * dst_m + j] = convert<D>(src[i + j * src_n]);
    }
  }
}

template <class D, class S>
void copy_2d(const void* source, std::int64_t src_m, std::int64_t src_n, void* target, std::int64_t dst_m,
             std::int64_t dst_n, std::int64_t m, std::int64_t n) noexcept {
  const S* src = static_cast<const S*>(source);
  D* dst = static_cast<D*>(target);
  if (dst_n == 1 && src_n == 1) {
    if (dst_m == n && src_m == n) n *= m, m = 1;
    if (source == target && (m == 1 || dst_m == src_m)) return;  // in place
    for (std::int64_t i = 0; i < m; ++i, src += src_m, dst += dst_m) {
      if constexpr (std::is_same_v<D, S>) {
        if (n >= 32) {
          std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(D));
          continue;
        }
      }
      const S* __restrict s = src;
      D* __restrict d = dst;
      for (std::int64_t j = 0; j < n; ++j) d[j] = convert<D>(s[j]);
    }
  } else if (dst_n == 1 && src_n == 0) {
    for (std::int64_t i = 0; i < m; ++i, src += src_m, dst += dst_m) {
      const D x = convert<D>(*src);
      for (std::int64_t j = 0; j < n; ++j) dst[j] = x;
    }
  } else if (dst_n == 1 && src_m == 1 && m >= 8) {
    copy_transposed(src, src_n, dst, dst_m, m, n);
  } else {
    for (std::int64_t i = 0; i < m; ++i, src += src_m, dst += dst_m)
      for (std::int64_t j = 0; j < n; ++j) dst[j * dst_n] = convert<D>(src[j * src_n]);
  }
}

template <class D> CopyLoop copy_loop_from(DType src) {
  switch (src) {
    case DType::f32: return copy_2d<D, float>;
    case DType::f64: return copy_2d<D, double>;
    case DType::i64: return copy_2d<D, std::int64_t>;
    case DType::boolean: return copy_2d<D, std::uint8_t>;
  }
  return nullptr;
}
inline CopyLoop copy_loop(DType dst, DType src) {
  switch (dst) {
    case DType::f32: return copy_loop_from<float>(src);
    case DType::f64: return copy_loop_from<double>(src);
    case DType::i64: return copy_loop_from<std::int64_t>(src);
    case DType::boolean: return copy_loop_from<std::uint8_t>(src);
  }
  return nullptr;
}

}  // namespace madaline::MADALINE_ISA
