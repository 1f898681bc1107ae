// Matrix products with few columns, as dot products: the vectors run along k.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/matmul_micro.h"
#include "kernels/matmul_pack.h"

namespace madaline::MADALINE_ISA::gemm {

inline constexpr int kDotCols = 15;  // more columns are always faster in tiles

// Lane i of the result is the sum of the lanes of x[i], added as a tree that is the same for every i. x is overwritten.
template <class T> MADALINE_INLINE Vec<T> sum_each(Vec<T> (&x)[Vec<T>::width]) {
  constexpr int W = Vec<T>::width, L = 16 / static_cast<int>(sizeof(T));
  if constexpr (W == 4 * L) {
#pragma GCC unroll 16
    for (int i = 0; i < W / 2; ++i)
      x[i] = shuffle_lanes<ExchangeBlocks<T, 2 * L, false>>(x[i], x[i + W / 2]) +
             shuffle_lanes<ExchangeBlocks<T, 2 * L, true>>(x[i], x[i + W / 2]);
  }
  if constexpr (W >= 2 * L) {
#pragma GCC unroll 16
    for (int i = 0; i < L; ++i)
      x[i] = shuffle_lanes<ExchangeBlocks<T, L, false>>(x[i], x[i + L]) +
             shuffle_lanes<ExchangeBlocks<T, L, true>>(x[i], x[i + L]);
  }
  if constexpr (L == 4) {
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i)
      x[i] = shuffle_lanes<ExchangeBlocks<T, 2, false>>(x[2 * i], x[2 * i + 1]) +
             shuffle_lanes<ExchangeBlocks<T, 2, true>>(x[2 * i], x[2 * i + 1]);
  }
  return shuffle_lanes<Alternate<T, false>>(x[0], x[1]) + shuffle_lanes<Alternate<T, true>>(x[0], x[1]);
}

// A few columns of B as vectors along k: vector s of column j is at data[j * col + s * step].
template <class T> struct Columns {
  const T* data;
  std::ptrdiff_t col, step;
};

// C(i, j) = epilogue(sum_p A[i * a_m + p] * B(p, j)) for i < R, j < N <= 4. Lane l of a sum takes p = l, l + width ...;
// the bits of an element do not depend on R and N. C overlaps neither A nor B.
template <class T, int R, int N>
void dot_tile(std::size_t k, const T* A, std::ptrdiff_t a_m, Columns<T> B, Target<T> to, const Store& store) noexcept {
  // Each row's sums start at a multiple of `pitch`, so that they are stored together.
  constexpr int W = Vec<T>::width, pitch = N == 3 ? 4 : N, groups = (R * pitch + W - 1) / W;
  Vec<T> sum[R][N];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) sum[i][j] = Vec<T>(T(0));

  const auto step = [&](const auto& load) __attribute__((always_inline)) {
    Vec<T> b[N];
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) b[j] = load(B.data + j * B.col);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const Vec<T> a = load(A + i * a_m);
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) sum[i][j] = fma(a, b[j], sum[i][j]);
    }
  };
  std::size_t p = 0;
  for (; p + W <= k; p += W, A += W, B.data += B.step) step([](const T* x) { return Vec<T>::load(x); });
  if (p < k) step([rest = static_cast<int>(k - p)](const T* x) { return Vec<T>::load_partial(x, rest); });

  alignas(64) T sums[groups * W];
#pragma GCC unroll 16
  for (int g = 0; g < groups; ++g) {
    Vec<T> x[W];
#pragma GCC unroll 16
    for (int l = 0; l < W; ++l) {
      const int i = (g * W + l) / pitch, j = (g * W + l) % pitch;
      x[l] = i < R && j < N ? sum[i][j] : Vec<T>(T(0));
    }
    sum_each(x).store(sums + g * W);
  }
  if ((N == 1 || store.col == 1) && !store.add && !store.relu) {
    if (to.bias) {
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) sums[i * pitch + j] += to.bias[i * store.bias_row + j * store.bias_col];
    }
    if (to.gate) {
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) {
          const bool open = to.gate[i * store.gate_row + j * store.gate_col] > T(0);
          sums[i * pitch + j] = open ? sums[i * pitch + j] : T(0);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) std::memcpy(to.C + i * store.row, sums + i * pitch, N * sizeof(T));
    return;
  }
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) store_element(sums[i * pitch + j], i, j, to, store);
}

// The same for m rows: several at a time to keep the multipliers busy, then one by one.
template <class T, int N>
void dot_rows(std::size_t m, std::size_t k, const T* A, std::ptrdiff_t a_m, Columns<T> B, Target<T> to,
              const Store& store) noexcept {
  constexpr std::size_t R = N == 1 ? 8 : N == 4 ? 3 : 4;
  std::size_t i = 0;
  for (; i + R <= m; i += R)
    dot_tile<T, R, N>(k, A + static_cast<std::ptrdiff_t>(i) * a_m, a_m, B, store.move(to, i, 0), store);
  for (; i < m; ++i)
    dot_tile<T, 1, N>(k, A + static_cast<std::ptrdiff_t>(i) * a_m, a_m, B, store.move(to, i, 0), store);
}

// n columns, 3 or 4 at a time, in blocks of rows that stay in cache for the next columns.
template <class T>
void dot_block(std::size_t m, std::size_t n, std::size_t k, const T* A, std::ptrdiff_t a_m, Columns<T> B, Target<T> to,
               const Store& store) noexcept {
  const std::size_t block =
      n <= 4 ? m : std::max<std::size_t>(24576 / (k + 1) / 12, 1) * 12;  // 12: rows go by 3 or 4 too
  for (std::size_t i = 0; i < m; i += block) {
    const std::size_t rows = std::min(block, m - i);
    std::size_t j = 0;
    const auto columns = [&](auto width) {
      dot_rows<T, width>(rows, k, A + static_cast<std::ptrdiff_t>(i) * a_m, a_m,
                         {B.data + static_cast<std::ptrdiff_t>(j) * B.col, B.col, B.step}, store.move(to, i, j), store);
      j += width;
    };
    while (n - j > 4 && (n - j) % 4 != 0) columns(std::integral_constant<int, 3>());
    while (n - j >= 4) columns(std::integral_constant<int, 4>());
    if (n - j == 3) columns(std::integral_constant<int, 3>());
    else if (n - j == 2) columns(std::integral_constant<int, 2>());
    else if (n - j == 1) columns(std::integral_constant<int, 1>());
  }
}

}  // namespace madaline::MADALINE_ISA::gemm
