// Matrix products C = A B for the shapes of multilayer perceptrons, on one thread.
//
// Four ways, chosen by shape and strides alone:
//   tiles   register tiles straight from A and B, or from packed panels of them when these are used often enough to pay
//   swapped few columns, A transposed (weight gradients of an output layer): C^T = B^T A^T in tiles, stored transposed
//   dots    very few columns, or rows with B transposed: dot products along k
//   outer   k = 1: a rank-1 update, row by row
// In `tiles`, `swapped` and `outer` an element of C is the sum over blocks of k, each added in the order of k: its bits
// depend on k alone, not on m, n, strides or the way. `dots` adds in another order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/matmul_dot.h"
#include "kernels/matmul_micro.h"
#include "kernels/matmul_pack.h"
#include "kernels/simd.h"

namespace madaline::MADALINE_ISA {

// Blocks: a panel of B (kBlockK x kTileCols) and one of A stay in the L1 cache, a block of A (kBlockM x kBlockK) in L2, a
// block of B (kBlockK x kBlockN) in L3.
template <class T> inline constexpr std::size_t kBlockK = sizeof(T) == 4 ? 320 : 256;
inline constexpr std::size_t kBlockM = 96;
template <class T> inline constexpr std::size_t kBlockN = 4096 / sizeof(T);

// Dot products run along rows of A, which the cache prefetches best if they are long.
inline constexpr std::size_t kDotBlockK = 2048;
// Packing goes through a block in slices of k, so that a cache line that spans panels is read once.
inline constexpr std::size_t kPackSlice = 32;

constexpr std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
// Nearly equal blocks of at most `most` (a multiple of step), each but the last a multiple of step.
constexpr std::size_t even_block(std::size_t n, std::size_t most, std::size_t step) {
  const std::size_t count = std::max<std::size_t>((n + most - 1) / most, 1);
  return std::max(round_up((n + count - 1) / count, step), step);
}

// Elements from one packed panel of A to the next: a vector more than its own, for the stores that overlap its end.
template <class T> constexpr std::size_t packed_a_panel(std::size_t k) { return static_cast<std::size_t>(kTileRows) * k + static_cast<std::size_t>(Vec<T>::width); }
template <class T> constexpr std::size_t packed_a_size(std::size_t m, std::size_t k) {
  const std::size_t panels = (std::min(m, kBlockM) + kTileRows - 1) / kTileRows;
  return round_up(panels * packed_a_panel<T>(std::min(round_up(k, Vec<T>::width), kBlockK<T>)), 64);
}
template <class T> constexpr std::size_t packed_b_size(std::size_t n, std::size_t k) {
  return round_up(std::min(n, kBlockN<T>), kTileCols<T>) * std::min(round_up(k, Vec<T>::width), kBlockK<T>);
}

// Elements of workspace, 64-byte aligned, that matmul<T> needs; under 1.5 MB for any shape.
template <class T> constexpr std::size_t matmul_workspace(std::size_t m, std::size_t n, std::size_t k) {
  if constexpr (std::is_integral_v<T>) return 0;
  else return std::max({packed_a_size<T>(m, k) + packed_b_size<T>(n, k), packed_a_size<T>(n, k) + packed_b_size<T>(m, k),
                        kDotCols * std::min(round_up(k, Vec<T>::width), kDotBlockK)});
}

// A product as the ways see it: `swapped` exchanges m and n, A and B, and the strides of C.
template <class T> struct Product {
  std::size_t m, n, k;
  const T* A;
  std::ptrdiff_t a_m, a_k;
  const T* B;
  std::ptrdiff_t b_k, b_n;
  Output<T> out;

  Product swapped() const {
    return {n, m, k, B, b_n, b_k, A, a_k, a_m, {out.C, out.col, out.row, out.add, out.bias, out.bias_col, out.bias_row, out.relu}};
  }
};

// The output of one block of k: the first overwrites C unless accumulating, the last applies the epilogue.
template <class T> Output<T> output_of_block(const Output<T>& out, bool first, bool last) {
  Output<T> r = out;
  r.add = out.add || !first;
  if (!last) r.bias = nullptr, r.relu = false;
  return r;
}

// Rows are shared evenly among the tiles: 32 rows as 6 6 5 5 5 5, since a tile of 2 takes as long as one of 4.
struct Rows {
  std::size_t tiles, height, taller;  // the first `taller` tiles have height + 1 rows
  Rows(std::size_t m, std::size_t most) : tiles((m + most - 1) / most), height(m / tiles), taller(m % tiles) {}
  int of(std::size_t t) const { return static_cast<int>(height + (t < taller)); }
};

// m <= 3 rows straight from B with unit b_n: tiles of several vectors, for enough independent sums.
template <class T> void wide_tiles(const Product<T>& x, std::size_t k, const T* A, const T* B, const Output<T>& out) noexcept {
  constexpr std::size_t W = static_cast<std::size_t>(Vec<T>::width);
  const std::size_t row = x.m - 1;
  std::size_t j = 0;
  if (x.m == 1)
    for (; j + 8 * W <= x.n; j += 8 * W) tile<T, 1, 8, false>(k, A, x.a_m, x.a_k, B + j, x.b_k, 8 * W, out.at(0, j));
  for (; j + 4 * W <= x.n; j += 4 * W) tiles<T, 4, false>[row](k, A, x.a_m, x.a_k, B + j, x.b_k, 4 * W, out.at(0, j));
  for (; j < x.n; j += 2 * W)
    run_tile(static_cast<int>(x.m), static_cast<int>(std::min(2 * W, x.n - j)), true, k, A, x.a_m, x.a_k, B + j, x.b_k, out.at(0, j));
}

template <class T> void tiled_product(const Product<T>& x, const Epilogue<T>& epilogue, bool is_swapped, T* workspace) noexcept {
  constexpr std::size_t NR = static_cast<std::size_t>(kTileCols<T>), MR = kTileRows;
  const bool thin = x.n <= static_cast<std::size_t>(Vec<T>::width);
  const std::size_t b_bytes = x.n * x.k * sizeof(T);
  const bool pack_b = x.b_n != 1 || (b_bytes > 24 * 1024 && (x.m >= 96 || (x.m >= 16 && (b_bytes > 320 * 1024 || x.n * sizeof(T) % 2048 == 0))));
  const bool pack_a = !thin && x.m >= 8 && x.k >= 16 && (x.a_k == 1 ? x.n >= 512 : x.n >= 96);
  const std::size_t block_k = even_block(x.k, kBlockK<T>, static_cast<std::size_t>(Vec<T>::width));
  const std::size_t block_n = even_block(x.n, kBlockN<T>, NR);
  const std::size_t block_m = even_block(x.m, kBlockM, MR);
  T* const packed_a = workspace;
  T* const packed_b = workspace + packed_a_size<T>(x.m, x.k);

  for (std::size_t n0 = 0; n0 < x.n; n0 += block_n) {
    const std::size_t nb = std::min(block_n, x.n - n0);
    std::size_t k0 = 0;
    do {  // once even if k = 0
      const std::size_t kb = std::min(block_k, x.k - k0);
      const std::size_t panel_a = packed_a_panel<T>(kb);
      const bool last_k = k0 + kb == x.k;
      const T* A = x.A + static_cast<std::ptrdiff_t>(k0) * x.a_k;
      const T* B = x.B + static_cast<std::ptrdiff_t>(k0) * x.b_k + static_cast<std::ptrdiff_t>(n0) * x.b_n;
      const Output<T> out = output_of_block(x.out, k0 == 0, last_k);
      if (x.m <= 3 && !pack_b) {
        Product<T> columns = x;
        columns.n = nb;
        wide_tiles(columns, kb, A, B, out.at(0, n0));
        if (last_k && epilogue.after_panel && !is_swapped && n0 + nb == x.n) epilogue.after_panel(epilogue.context, 0, x.m);
      } else {
        if (pack_b)
          for (std::size_t p = 0; p < kb; p += kPackSlice)
            for (std::size_t j = 0; j < nb; j += NR)
              pack_panel<T, kTileCols<T>>(B + static_cast<std::ptrdiff_t>(p) * x.b_k + static_cast<std::ptrdiff_t>(j) * x.b_n, x.b_n, x.b_k,
                                          static_cast<int>(std::min(NR, nb - j)), std::min(kPackSlice, kb - p), packed_b + j * kb + p * NR);
        for (std::size_t m0 = 0; m0 < x.m; m0 += block_m) {
          const std::size_t mb = std::min(block_m, x.m - m0);
          const Rows rows(mb, thin ? kThinTileRows : MR);
          if (pack_a)
            for (std::size_t p = 0; p < kb; p += kPackSlice)
              for (std::size_t t = 0, i = m0; t < rows.tiles; i += static_cast<std::size_t>(rows.of(t)), ++t)
                pack_panel<T, kTileRows>(A + static_cast<std::ptrdiff_t>(i) * x.a_m + static_cast<std::ptrdiff_t>(p) * x.a_k, x.a_m, x.a_k, rows.of(t),
                                         std::min(kPackSlice, kb - p), packed_a + t * panel_a + p * MR);
          for (std::size_t j = 0; j < nb; j += NR) {
            const int cols = static_cast<int>(std::min(NR, nb - j));
            const T* b = pack_b ? packed_b + j * kb : B + j;
            const std::ptrdiff_t b_k = pack_b ? kTileCols<T> : x.b_k;
            for (std::size_t t = 0, i = m0; t < rows.tiles; i += static_cast<std::size_t>(rows.of(t)), ++t) {
              const Output<T> to = out.at(i, n0 + j);
              if (pack_a) run_tile<T>(rows.of(t), cols, !pack_b, kb, packed_a + t * panel_a, 1, kTileRows, b, b_k, to);
              else run_tile<T>(rows.of(t), cols, !pack_b, kb, A + static_cast<std::ptrdiff_t>(i) * x.a_m, x.a_m, x.a_k, b, b_k, to);
            }
          }
          if (last_k && epilogue.after_panel && !is_swapped && n0 + nb == x.n) epilogue.after_panel(epilogue.context, m0, mb);
        }
      }
      if (last_k && epilogue.after_panel && is_swapped) epilogue.after_panel(epilogue.context, n0, nb);
      k0 += kb;
    } while (k0 < x.k);
  }
}

// n <= kDotCols, a_k = 1. Columns of B that are not contiguous in k are packed as vectors of the first column, the second ...
template <class T> void dot_product(const Product<T>& x, const Epilogue<T>& epilogue, bool is_swapped, T* workspace) noexcept {
  constexpr std::size_t W = static_cast<std::size_t>(Vec<T>::width);
  const std::size_t block_k = even_block(x.k, kDotBlockK, W);
  std::size_t k0 = 0;
  do {  // once even if k = 0
    const std::size_t kb = std::min(block_k, x.k - k0);
    const T* B = x.B + static_cast<std::ptrdiff_t>(k0) * x.b_k;
    Columns<T> columns{B, x.b_n, Vec<T>::width};
    if (x.b_k != 1) {
      if (x.n < 4) {
        for (std::size_t p = 0; p < kb; ++p)
          for (std::size_t j = 0; j < x.n; ++j)
            workspace[(p / W * x.n + j) * W + p % W] = B[static_cast<std::ptrdiff_t>(p) * x.b_k + static_cast<std::ptrdiff_t>(j) * x.b_n];
      } else {
        for (std::size_t p = 0; p < kb; p += W)
          pack_panel<T, Vec<T>::width>(B + static_cast<std::ptrdiff_t>(p) * x.b_k, x.b_k, x.b_n, static_cast<int>(std::min(W, kb - p)), x.n,
                                       workspace + p * x.n);
      }
      columns = {workspace, Vec<T>::width, static_cast<std::ptrdiff_t>(W * x.n)};
    }
    dot_block(x.m, x.n, kb, x.A + k0, x.a_m, columns, output_of_block(x.out, k0 == 0, k0 + kb == x.k));
    k0 += kb;
  } while (k0 < x.k);
  if (epilogue.after_panel) epilogue.after_panel(epilogue.context, 0, is_swapped ? x.n : x.m);
}

// k = 1, unit b_n: C(i, j) = epilogue(C(i, j) + a_i b_j), one pass over each row of C.
template <class T> void outer_product(const Product<T>& x, const Epilogue<T>& epilogue) noexcept {
  constexpr std::size_t W = static_cast<std::size_t>(Vec<T>::width);
  const Output<T>& out = x.out;
  for (std::size_t i = 0; i < x.m; ++i) {
    const Vec<T> a(x.A[static_cast<std::ptrdiff_t>(i) * x.a_m]);
    T* c = out.C + static_cast<std::ptrdiff_t>(i) * out.row;
    const auto element = [&](Vec<T> b, Vec<T> before, Vec<T> bias) {
      Vec<T> s = a * b;
      if (out.add) s = s + before;
      if (out.bias) s = s + bias;
      return out.relu ? relu_lanes(s) : s;
    };
    std::size_t j = 0;
    if (out.add && !out.bias && !out.relu) {
      for (; j + W <= x.n; j += W) (a * Vec<T>::load(x.B + j) + Vec<T>::load(c + j)).store(c + j);
    } else {
      for (; j + W <= x.n; j += W) {
        const Vec<T> bias = !out.bias ? Vec<T>(T(0)) : out.bias_col ? Vec<T>::load(out.bias + j) : Vec<T>(*out.bias);
        element(Vec<T>::load(x.B + j), out.add ? Vec<T>::load(c + j) : Vec<T>(T(0)), bias).store(c + j);
      }
    }
    if (j < x.n) {
      const int n = static_cast<int>(x.n - j);
      const Vec<T> bias = !out.bias ? Vec<T>(T(0)) : out.bias_col ? Vec<T>::load_partial(out.bias + j, n) : Vec<T>(*out.bias);
      element(Vec<T>::load_partial(x.B + j, n), out.add ? Vec<T>::load_partial(c + j, n) : Vec<T>(T(0)), bias).store_partial(c + j, n);
    }
  }
  if (epilogue.after_panel) epilogue.after_panel(epilogue.context, 0, x.m);
}

// C(i, j) = relu?(C(i, j)? + sum_p A(i, p) B(p, j) + bias(j)?) for i < m, j < n, p < k, where C(i, j) = C[i * ldc + j],
// A(i, p) = A[i * a_m + p * a_k], B(p, j) = B[p * b_k + j * b_n]; strides may be any, 0 and negative too (for C: rows must not
// overlap). C overlaps neither A, B nor bias. workspace has matmul_workspace<T>(m, n, k) elements, 64-byte aligned; it is
// not kept between calls. NaN and inf propagate; k = 0 gives zeros, or leaves C when accumulating.
template <class T>
void matmul(std::size_t m, std::size_t n, std::size_t k, const T* A, std::ptrdiff_t a_m, std::ptrdiff_t a_k, const T* B, std::ptrdiff_t b_k,
            std::ptrdiff_t b_n, T* C, std::ptrdiff_t ldc, bool accumulate, const Epilogue<T>& epilogue, T* workspace) noexcept {
  if (m == 0) return;
  if (n == 0) {
    if (epilogue.after_panel) epilogue.after_panel(epilogue.context, 0, m);
    return;
  }
  const Product<T> x{m, n, k, A, a_m, a_k, B, b_k, n == 1 ? 1 : b_n, {C, ldc, 1, accumulate, epilogue.bias, 0, epilogue.bias_stride, epilogue.relu}};
  if (k == 1 && x.b_n == 1) outer_product(x, epilogue);
  else if (n <= kDotCols && a_k == 1) dot_product(x, epilogue, false, workspace);
  else if (m <= 3 && b_k == 1 && x.b_n != 1) dot_product(x.swapped(), epilogue, true, workspace);
  else if (n < 16 && a_m == 1 && m > n) tiled_product(x.swapped(), epilogue, true, workspace);
  else tiled_product(x, epilogue, false, workspace);
}

// The same for integers (sums wrap around), plainly: they occur in index arithmetic, never in a network's products.
inline void matmul(std::size_t m, std::size_t n, std::size_t k, const std::int64_t* A, std::ptrdiff_t a_m, std::ptrdiff_t a_k,
                   const std::int64_t* B, std::ptrdiff_t b_k, std::ptrdiff_t b_n, std::int64_t* C, std::ptrdiff_t ldc, bool accumulate,
                   const Epilogue<std::int64_t>& epilogue, std::int64_t*) noexcept {
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const auto r = static_cast<std::ptrdiff_t>(i), c = static_cast<std::ptrdiff_t>(j);
      std::uint64_t sum = accumulate ? static_cast<std::uint64_t>(C[r * ldc + c]) : 0;
      for (std::size_t q = 0; q < k; ++q) {
        const auto p = static_cast<std::ptrdiff_t>(q);
        sum += static_cast<std::uint64_t>(A[r * a_m + p * a_k]) * static_cast<std::uint64_t>(B[p * b_k + c * b_n]);
      }
      if (epilogue.bias) sum += static_cast<std::uint64_t>(epilogue.bias[c * epilogue.bias_stride]);
      const auto value = static_cast<std::int64_t>(sum);
      C[r * ldc + c] = epilogue.relu && value < 0 ? 0 : value;
    }
    if (epilogue.after_panel) epilogue.after_panel(epilogue.context, i, 1);
  }
}

}  // namespace madaline::MADALINE_ISA
