// Matrix products with very few columns, as dot products: the vectors run along k.
#pragma once

#include <cstddef>

#include "matmul_micro.h"
#include "matmul_pack.h"

namespace madaline::MADALINE_ISA {

inline constexpr int kDotCols = 4;  // more columns are faster in tiles

// C(i, j) = epilogue(sum_p A[i * a_m + p] * B[j * b_n + p]) for i < R, j < N. Lane l of a sum takes p = l, l + width, ...;
// then the lanes are added as a tree, so that an element has the same bits whatever R and N. C overlaps neither A nor B.
template <class T, int R, int N>
void dot_tile(std::size_t k, const T* A, std::ptrdiff_t a_m, const T* B, std::ptrdiff_t b_n, const Output<T>& out) noexcept {
  constexpr int W = Vec<T>::width, groups = (R * N + W - 1) / W;
  Vec<T> sum[groups * W];
#pragma GCC unroll 16
  for (int s = 0; s < groups * W; ++s) sum[s] = Vec<T>(T(0));

  std::size_t p = 0;
  for (; p + W <= k; p += W) {
    Vec<T> b[N];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) b[j] = Vec<T>::load(B + j * b_n + p);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const Vec<T> a = Vec<T>::load(A + i * a_m + p);
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) sum[i * N + j] = fma(a, b[j], sum[i * N + j]);
    }
  }
  if (p < k) {
    const int rest = static_cast<int>(k - p);
    Vec<T> b[N];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) b[j] = Vec<T>::load_partial(B + j * b_n + p, rest);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const Vec<T> a = Vec<T>::load_partial(A + i * a_m + p, rest);
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) sum[i * N + j] = fma(a, b[j], sum[i * N + j]);
    }
  }

  alignas(64) T sums[groups * W + W];
#pragma GCC unroll 16
  for (int g = 0; g < groups; ++g) {
    Vec<T> t[W];
#pragma GCC unroll 16
    for (int l = 0; l < W; ++l) t[l] = sum[g * W + l];
    transpose(t);
#pragma GCC unroll 4
    for (int half = W / 2; half > 0; half /= 2)
#pragma GCC unroll 16
      for (int l = 0; l < half; ++l) t[l] = t[l] + t[l + half];
    t[0].store(sums + g * W);
  }
  Vec<T>(T(0)).store(sums + groups * W);
  store_edge(sums, N, R, N, out);
}

// The same for m rows: as many at a time as keep the multipliers busy, then one by one.
template <class T, int N>
void dot_rows(std::size_t m, std::size_t k, const T* A, std::ptrdiff_t a_m, const T* B, std::ptrdiff_t b_n, const Output<T>& out) noexcept {
  constexpr std::size_t R = N == 1 ? 8 : N == 4 ? 3 : 4;
  std::size_t i = 0;
  for (; i + R <= m; i += R) dot_tile<T, R, N>(k, A + static_cast<std::ptrdiff_t>(i) * a_m, a_m, B, b_n, out.at(i, 0));
  for (; i < m; ++i) dot_tile<T, 1, N>(k, A + static_cast<std::ptrdiff_t>(i) * a_m, a_m, B, b_n, out.at(i, 0));
}

}  // namespace madaline::MADALINE_ISA
