// Matrix products C = A B for the shapes of multilayer perceptrons, on one thread.
//
// Five ways, chosen by shape and strides alone:
//   tiles   register tiles directly from A and B, or from packed panels if these are reused often enough
//   swapped few columns, A transposed (weight gradients of an output layer): C^T = B^T A^T in tiles, stored transposed
//   dots    few columns and long k with A contiguous in k, or at most 3 rows with B transposed: dot products along k
//   outer   k = 1: a rank-1 update, row by row
//   thin    at most 3 rows, k at most 4, B transposed: element by element
// In all except `dots`, an element of C is the sum over blocks of k, each added in the order of k, so it depends only
// on its row of A, its column of B and k. `dots` adds in another order, which is also the same for every element. Hence
// a product can be split into blocks of at least 4 rows and 17 columns (n <= 16: all columns) with bit-identical
// results.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/matmul_dot.h"
#include "kernels/matmul_micro.h"
#include "kernels/matmul_pack.h"
#include "kernels/simd.h"

namespace madaline::MADALINE_ISA {

namespace gemm {

// Blocks: a panel of B (kBlockK x kTileCols) and one of A stay in the L1 cache, a block of A (kBlockM x kBlockK) in L2,
// a block of B (kBlockK x kBlockN) in L3.
template <class T> inline constexpr std::size_t kBlockK = sizeof(T) == 4 ? 320 : 256;
inline constexpr std::size_t kBlockM = 96;
template <class T> inline constexpr std::size_t kBlockN = 4096 / sizeof(T);
// Dot products run along rows of A; prefetching works best if they are long.
inline constexpr std::size_t kDotBlockK = 2048;
// If k is not contiguous, it is packed in slices, so that a cache line that spans several panels is read once.
inline constexpr std::size_t kPackSlice = 32;
// A matrix with more bytes does not stay in L2 together with the other data of a product.
inline constexpr std::size_t kLargeBytes = 320 * 1024;
// For at most this many terms, vectors along k do not pay off.
inline constexpr std::size_t kThinK = 4;

constexpr std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
// Nearly equal blocks of at most `most` (a multiple of step), each except the last a multiple of step.
constexpr std::size_t even_block(std::size_t n, std::size_t most, std::size_t step) {
  const std::size_t count = std::max<std::size_t>((n + most - 1) / most, 1);
  return std::max(round_up((n + count - 1) / count, step), step);
}

// Distance between packed panels of A, in elements: one vector more than a panel, for stores that overlap its end.
template <class T> constexpr std::size_t packed_a_panel(std::size_t k) {
  return static_cast<std::size_t>(kTileRows) * k + static_cast<std::size_t>(Vec<T>::width);
}
template <class T> constexpr std::size_t packed_a_size(std::size_t m, std::size_t k) {
  const std::size_t panels = (std::min(m, kBlockM) + kTileRows - 1) / kTileRows;
  return round_up(panels * packed_a_panel<T>(std::min(round_up(k, Vec<T>::width), kBlockK<T>)), 64);
}
template <class T> constexpr std::size_t packed_b_size(std::size_t n, std::size_t k) {
  return round_up(std::min(n, kBlockN<T>), kTileCols<T>) * std::min(round_up(k, Vec<T>::width), kBlockK<T>);
}

// A matrix: element (i, j) at data[i * row + j * col].
template <class T> struct View {
  const T* data;
  std::ptrdiff_t row, col;
  View from(std::size_t i, std::size_t j) const {
    return {data + static_cast<std::ptrdiff_t>(i) * row + static_cast<std::ptrdiff_t>(j) * col, row, col};
  }
  View transposed() const { return {data, col, row}; }
};

// The arguments of a product.
template <class T> struct Product {
  std::size_t m, n, k;
  View<T> A, B;
  Target<T> to;
  Store store;
  const Epilogue<T>& epilogue;
  bool is_swapped = false;

  // The same product as C^T = B^T A^T.
  Product swapped() const {
    return {
        n,
        m,
        k,
        B.transposed(),
        A.transposed(),
        to,
        {store.col, store.row, store.bias_col, store.bias_row, store.gate_col, store.gate_row, store.add, store.relu},
        epilogue,
        true};
  }
  // How a block of k is stored: the first overwrites C unless accumulating, the last applies the epilogue.
  Store store_of(bool first, bool last) const {
    Store r = store;
    r.add = store.add || !first;
    r.relu = store.relu && last;
    return r;
  }
  Target<T> target_of(bool last) const { return last ? to : Target<T>{to.C, nullptr}; }
  void finish(std::size_t first_row, std::size_t n_rows) const noexcept {
    if (epilogue.after_panel) epilogue.after_panel(epilogue.context, first_row, n_rows);
  }
};

// Rows are shared evenly among the tiles: 32 rows as 6 6 5 5 5 5, since a tile of 2 takes as long as one of 4.
struct TileRows {
  std::size_t tiles, height, taller;  // the first `taller` tiles have height + 1 rows
  TileRows(std::size_t m, std::size_t most) : tiles((m + most - 1) / most), height(m / tiles), taller(m % tiles) {}
  std::size_t of(std::size_t t) const { return height + (t < taller); }
};

// m <= kWideRows, directly from B with unit column stride: tiles of several vectors, for enough independent sums.
template <class T>
void wide_tiles(std::size_t m, std::size_t n, std::size_t k, View<T> A, View<T> B, Target<T> to,
                const Store& store) noexcept {
  constexpr std::size_t W = static_cast<std::size_t>(Vec<T>::width);
  std::size_t j = 0;
  const auto run = [&](TileFunction<T> function, std::size_t cols) {
    function({k, A.row, A.col, B.data + j, B.row, static_cast<int>(cols), &store}, A.data, store.move(to, 0, j));
    j += cols;
  };
  if (m == 1)
    while (n - j >= 8 * W) run(&tile<T, 1, 8, false>, 8 * W);
  while (n - j >= 4 * W) run(tiles<T, 4>[m - 1], 4 * W);
  while (n - j >= 2 * W) run(tiles<T, 2>[m - 1], 2 * W);
  if (n - j > W) run(tiles<T, 2, true>[m - 1], n - j);
  else if (n > j) run(tiles<T, 1, true>[m - 1], n - j);
}

// Panels of kTileCols columns of a k x n block of B, one after the other.
template <class T> void pack_b_block(std::size_t n, std::size_t k, View<T> B, T* packed) noexcept {
  constexpr std::size_t NR = static_cast<std::size_t>(kTileCols<T>);
  const std::size_t slice = B.col == 1 ? std::min(kPackSlice, k) : k;
  for (std::size_t p = 0; p < k; p += slice)
    for (std::size_t j = 0; j < n; j += NR)
      pack_panel<T, kTileCols<T>>(B.from(p, j).data, B.col, B.row, static_cast<int>(std::min(NR, n - j)),
                                  std::min(slice, k - p), packed + j * k + p * NR);
}

// Prefetches the rows of a tile of C that will be accumulated, so that they arrive while the tile is computed.
template <class T> MADALINE_INLINE void prefetch_rows(std::size_t height, const T* C, std::ptrdiff_t row) {
  for (std::size_t i = 0; i < height; ++i) __builtin_prefetch(C + static_cast<std::ptrdiff_t>(i) * row, 1);
}

// Panels of an m x k block of A, one for each tile's rows.
template <class T> void pack_a_block(const TileRows& rows, std::size_t k, View<T> A, T* packed) noexcept {
  const std::size_t slice = A.row == 1 ? std::min(kPackSlice, k) : k;
  for (std::size_t p = 0; p < k; p += slice)
    for (std::size_t t = 0, i = 0; t < rows.tiles; i += rows.of(t), ++t)
      pack_panel<T, kTileRows>(A.from(i, p).data, A.row, A.col, static_cast<int>(rows.of(t)), std::min(slice, k - p),
                               packed + t * packed_a_panel<T>(k) + p * kTileRows);
}

// Measured on a core with 32 KB of L1 and 512 KB of L2 cache. Rows of B at a distance of a multiple of 2 KB compete for
// the same few lines of L1. Reading rows of A is fast enough without packing.
template <class T> bool pays_to_pack_b(const Product<T>& x) {
  const std::size_t bytes = x.n * x.k * sizeof(T);
  if (x.B.col != 1) return true;
  return bytes > 24 * 1024 && (x.m >= 96 || (x.m >= 16 && (bytes > kLargeBytes || x.n * sizeof(T) % 2048 == 0)));
}
template <class T> bool pays_to_pack_a(const Product<T>& x) {
  return x.m >= 8 && x.k >= 16 && x.n >= (x.A.col == 1 ? 512 : 96);
}

// With fewer columns, vectors across them are less filled; with a longer k, the final sum of a vector costs relatively
// less. m is not considered, so that a row of C has the same bits alone and together with others.
template <class T> bool pays_to_dot(const Product<T>& x) {
  if (x.A.col != 1 || x.n > static_cast<std::size_t>(kDotCols)) return false;
  return x.n == 1 || x.k > 3 * x.n * x.n;
}

template <class T> void tiled_product(const Product<T>& x, T* workspace) noexcept {
  constexpr std::size_t NR = static_cast<std::size_t>(kTileCols<T>), W = static_cast<std::size_t>(Vec<T>::width);
  const bool pack_b = pays_to_pack_b(x), pack_a = pays_to_pack_a(x), wide = x.m <= kWideRows && !pack_b;
  const std::size_t block_k = even_block(x.k, kBlockK<T>, W);
  const std::size_t block_n = even_block(x.n, kBlockN<T>, NR);
  const std::size_t block_m = even_block(x.m, kBlockM, kTileRows);
  const bool is_far = x.m * x.n * sizeof(T) > kLargeBytes;
  T* const packed_a = workspace;
  T* const packed_b = workspace + packed_a_size<T>(x.m, x.k);

  for (std::size_t n0 = 0; n0 < x.n; n0 += block_n) {
    const std::size_t nb = std::min(block_n, x.n - n0);
    std::size_t k0 = 0;
    do {  // once even if k = 0
      const std::size_t kb = std::min(block_k, x.k - k0);
      const bool last_k = k0 + kb == x.k, last = last_k && n0 + nb == x.n && !x.is_swapped;
      const Store store = x.store_of(k0 == 0, last_k);
      const View<T> B = x.B.from(k0, n0);
      const std::size_t edge = nb / NR * NR;
      // Otherwise only the columns at the edge, if tiles would read beyond them.
      const bool pack_edge = !pack_b && (nb - edge) % W != 0;
      if (pack_b) pack_b_block(nb, kb, B, packed_b);
      else if (pack_edge && !wide) pack_b_block(nb - edge, kb, B.from(0, edge), packed_b);
      for (std::size_t m0 = 0; m0 < x.m; m0 += block_m) {
        const std::size_t mb = std::min(block_m, x.m - m0);
        const View<T> A = x.A.from(m0, k0);
        const Target<T> to = store.move(x.target_of(last_k), m0, n0);
        if (wide) {
          wide_tiles(mb, nb, kb, A, B, to, store);
        } else {
          const TileRows usual(mb, kTileRows), tall(mb, kTallRows);
          const Reach a_reach = pack_a       ? Reach::packed
                                : A.col == 1 ? Reach::rows
                                : A.row == 1 ? Reach::columns
                                             : Reach::any;
          if (pack_a) pack_a_block(usual, kb, A, packed_a);
          for (std::size_t j = 0; j < nb; j += NR) {
            const int cols = static_cast<int>(std::min(NR, nb - j));
            const bool narrow = cols <= Vec<T>::width;
            const TileRows& rows = narrow && !pack_a ? tall : usual;
            const bool packed = pack_b || (pack_edge && j == edge);
            const bool whole = cols == kTileCols<T> && store.is_plain();
            const TileFunction<T>* by_height = narrow  ? tiles<T, 1>.data()
                                               : whole ? full_tiles<T>(a_reach, packed ? Reach::packed : Reach::any)
                                                       : tiles<T, 2>.data();
            const Strip<T> strip{kb,
                                 pack_a ? 1 : A.row,
                                 pack_a ? kTileRows : A.col,
                                 !packed  ? B.data + j
                                 : pack_b ? packed_b + j * kb
                                          : packed_b,
                                 packed ? kTileCols<T> : B.row,
                                 cols,
                                 &store};
            const T* a = pack_a ? packed_a : A.data;
            Target<T> c = store.move(to, 0, j);
            for (std::size_t t = 0; t < rows.tiles; ++t) {
              const std::size_t height = rows.of(t);
              if (is_far && store.add) prefetch_rows(height, c.C, store.row);
              by_height[height - 1](strip, a, c);
              a += pack_a ? static_cast<std::ptrdiff_t>(packed_a_panel<T>(kb))
                          : static_cast<std::ptrdiff_t>(height) * A.row;
              c = store.move(c, height, 0);
            }
          }
        }
        if (last) x.finish(m0, mb);
      }
      if (last_k && x.is_swapped) x.finish(n0, nb);
      k0 += kb;
    } while (k0 < x.k);
  }
}

// n <= kDotCols, A contiguous in k. Columns of B that are not contiguous are packed as vectors, column by column.
template <class T> void dot_product(const Product<T>& x, T* workspace) noexcept {
  constexpr std::size_t W = static_cast<std::size_t>(Vec<T>::width);
  const std::size_t block_k = even_block(x.k, kDotBlockK, W);
  std::size_t k0 = 0;
  do {  // once even if k = 0
    const std::size_t kb = std::min(block_k, x.k - k0);
    const bool last = k0 + kb == x.k;
    const View<T> B = x.B.from(k0, 0);
    Columns<T> columns{B.data, B.col, Vec<T>::width};
    if (B.row != 1) {
      if (x.n < 4) {
        for (std::size_t p = 0; p < kb; p += W)
          for (std::size_t j = 0; j < x.n; ++j) {
            const T* from = B.from(p, j).data;
            T* to = workspace + p * x.n + j * W;
            for (std::size_t l = 0; l < std::min(W, kb - p); ++l) to[l] = from[static_cast<std::ptrdiff_t>(l) * B.row];
          }
      } else {
        for (std::size_t p = 0; p < kb; p += W)
          pack_panel<T, Vec<T>::width>(B.from(p, 0).data, B.row, B.col, static_cast<int>(std::min(W, kb - p)), x.n,
                                       workspace + p * x.n);
      }
      columns = {workspace, Vec<T>::width, static_cast<std::ptrdiff_t>(W * x.n)};
    }
    dot_block(x.m, x.n, kb, x.A.from(0, k0).data, x.A.row, columns, x.target_of(last), x.store_of(k0 == 0, last));
    k0 += kb;
  } while (k0 < x.k);
  x.finish(0, x.is_swapped ? x.n : x.m);
}

// y[j] = a b[j] (+ y[j]) for j < n, or 0 where gate[j] <= 0.
template <bool kAdd, bool kGate, class T>
MADALINE_INLINE void scaled_row(T a, const T* b, std::size_t n, T* y, const T* gate) noexcept {
  constexpr std::size_t W = static_cast<std::size_t>(Vec<T>::width);
  const Vec<T> factor(a);
  const auto vector = [&](std::size_t j) {
    Vec<T> x = factor * Vec<T>::load(b + j);
    if (kAdd) x = x + Vec<T>::load(y + j);
    if (kGate) x = gate_lanes(Vec<T>::load(gate + j), x);
    x.store(y + j);
  };
  std::size_t j = 0;
  for (; j + 4 * W <= n; j += 4 * W) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < 4 * W; v += W) vector(j + v);
  }
  for (; j + W <= n; j += W) vector(j);
  for (; j < n; ++j) {
    const T x = kAdd ? a * b[j] + y[j] : a * b[j];
    y[j] = kGate && !(gate[j] > T(0)) ? T(0) : x;
  }
}

// The same for m rows of N elements, fewer than a vector: setting up vectors would take longer than a row.
template <bool kAdd, int N, class T>
void scaled_short_rows(std::size_t m, const T* a, std::ptrdiff_t a_m, const T* b, T* C, std::ptrdiff_t ldc) noexcept {
  T row[N];
  for (int j = 0; j < N; ++j) row[j] = b[j];
  for (std::size_t i = 0; i < m; ++i, a += a_m, C += ldc)
    for (int j = 0; j < N; ++j) C[j] = kAdd ? *a * row[j] + C[j] : *a * row[j];
}

// A vector of a row of C from column j on, or its first n lanes. Full vectors are separate, since masked stores are
// slow.
template <class T>
MADALINE_INLINE void store_lanes(Vec<T> s, std::size_t j, int n, const Target<T>& to, const Store& store) noexcept {
  const bool is_whole = n == Vec<T>::width;
  const auto load = [&](const T* from) {
    return is_whole ? Vec<T>::load(from + j) : Vec<T>::load_partial(from + j, n);
  };
  if (store.add) s = s + load(to.C);
  if (to.bias) s = s + (store.bias_col ? load(to.bias) : Vec<T>(*to.bias));
  if (store.relu) s = relu_lanes(s);
  if (to.gate) s = gate_lanes(load(to.gate), s);
  if (is_whole) s.store(to.C + j);
  else s.store_partial(to.C + j, n);
}

// a b + c, rounded as in vectors.
template <class T> MADALINE_INLINE T fused(T a, T b, T c) { return kHasFma ? std::fma(a, b, c) : a * b + c; }

// k = 1, B contiguous: C(i, j) = epilogue(a_i b_j), one pass over each row of C.
template <class T> void outer_product(const Product<T>& x) noexcept {
  constexpr std::size_t W = static_cast<std::size_t>(Vec<T>::width);
  const Store& store = x.store;
  if (x.n <= 3 && !x.to.bias && !x.to.gate && !store.relu) {
    const auto rows = [&](auto n) {
      if (store.add) scaled_short_rows<true, n>(x.m, x.A.data, x.A.row, x.B.data, x.to.C, store.row);
      else scaled_short_rows<false, n>(x.m, x.A.data, x.A.row, x.B.data, x.to.C, store.row);
    };
    if (x.n == 1) rows(std::integral_constant<int, 1>());
    else if (x.n == 2) rows(std::integral_constant<int, 2>());
    else rows(std::integral_constant<int, 3>());
    return x.finish(0, x.m);
  }
  for (std::size_t i = 0; i < x.m; ++i) {
    const T a = *x.A.from(i, 0).data;
    const Target<T> to = store.move(x.to, i, 0);
    if (!to.bias && !store.relu) {
      if (x.n < W && !to.gate) {  // a loop of its own: setting up vectors would take longer than the row
        for (std::size_t j = 0; j < x.n; ++j) to.C[j] = store.add ? a * x.B.data[j] + to.C[j] : a * x.B.data[j];
      } else if (store.add && to.gate) scaled_row<true, true>(a, x.B.data, x.n, to.C, to.gate);
      else if (store.add) scaled_row<true, false>(a, x.B.data, x.n, to.C, to.gate);
      else if (to.gate) scaled_row<false, true>(a, x.B.data, x.n, to.C, to.gate);
      else scaled_row<false, false>(a, x.B.data, x.n, to.C, to.gate);
      continue;
    }
    for (std::size_t j = 0; j < x.n; j += W) {
      const int n = static_cast<int>(std::min(W, x.n - j));
      const T* b = x.B.data + j;
      store_lanes(Vec<T>(a) * (x.n - j >= W ? Vec<T>::load(b) : Vec<T>::load_partial(b, n)), j, n, to, store);
    }
  }
  x.finish(0, x.m);
}

// For few rows, and k so small that dot products would mostly consist of final sums: scalar sums in the order of k, as
// in tiles. B(p, j) = B[p + j * col].
template <class T> void thin_product(const Product<T>& x) noexcept {
  constexpr std::size_t W = static_cast<std::size_t>(Vec<T>::width);
  for (std::size_t i = 0; i < x.m; ++i) {
    const Target<T> to = x.store.move(x.to, i, 0);
    alignas(64) T sums[W] = {};
    T a[kThinK];
    for (std::size_t p = 0; p < x.k; ++p) a[p] = *x.A.from(i, p).data;
    for (std::size_t j = 0; j < x.n; j += W) {
      const std::size_t n = std::min(W, x.n - j);
      for (std::size_t l = 0; l < n; ++l) {
        const T* b = x.B.from(0, j + l).data;
        T sum = T(0);
        for (std::size_t p = 0; p < x.k; ++p) sum = fused(a[p], b[p], sum);
        sums[l] = sum;
      }
      store_lanes(Vec<T>::load(sums), j, static_cast<int>(n), to, x.store);
    }
  }
  x.finish(0, x.m);
}

}  // namespace gemm

// Elements of workspace, 64-byte aligned, that matmul<T> needs; under 1.5 MB for any shape.
template <class T> constexpr std::size_t matmul_workspace(std::size_t m, std::size_t n, std::size_t k) {
  using namespace gemm;
  if constexpr (std::is_integral_v<T>) return 0;
  else
    return std::max({packed_a_size<T>(m, k) + packed_b_size<T>(n, k), packed_a_size<T>(n, k) + packed_b_size<T>(m, k),
                     kDotCols * std::min(round_up(k, Vec<T>::width), kDotBlockK)});
}

// C(i, j) = gate?(relu?(C(i, j)? + sum_p A(i, p) B(p, j) + bias(j)?)) for i < m, j < n, p < k, where C(i, j) = C[i *
// ldc + j], A(i, p) = A[i * a_m + p * a_k], B(p, j) = B[p * b_k + j * b_n]; strides may be any, 0 and negative too (for
// C: rows must not overlap). C overlaps neither A, B, bias nor gate. workspace has matmul_workspace<T>(m, n, k)
// elements, 64-byte aligned; its contents are not kept between calls. NaN and inf propagate; k = 0 gives zeros, or
// leaves C unchanged when accumulating.
template <class T>
void matmul(std::size_t m, std::size_t n, std::size_t k, const T* A, std::ptrdiff_t a_m, std::ptrdiff_t a_k, const T* B,
            std::ptrdiff_t b_k, std::ptrdiff_t b_n, T* C, std::ptrdiff_t ldc, bool accumulate,
            const Epilogue<T>& epilogue, T* workspace) noexcept {
  if (m == 0) return;
  if (n == 0) {
    if (epilogue.after_panel) epilogue.after_panel(epilogue.context, 0, m);
    return;
  }
  if (n == 1) b_n = 1;
  const gemm::Product<T> x{m,
                           n,
                           k,
                           {A, a_m, a_k},
                           {B, b_k, b_n},
                           {C, epilogue.bias, epilogue.gate},
                           {ldc, 1, 0, epilogue.bias_stride, epilogue.gate_stride, 1, accumulate, epilogue.relu},
                           epilogue};
  if (k == 1 && b_n == 1) gemm::outer_product(x);
  else if (gemm::pays_to_dot(x)) gemm::dot_product(x, workspace);
  else if (m <= gemm::kWideRows && k > 0 && k <= gemm::kThinK && b_k == 1 && b_n != 1) gemm::thin_product(x);
  else if (m <= gemm::kWideRows && b_k == 1 && b_n != 1) gemm::dot_product(x.swapped(), workspace);
  else if (n < 16 && a_m == 1 && m > n) gemm::tiled_product(x.swapped(), workspace);
  else gemm::tiled_product(x, workspace);
}

// The same for integers (sums wrap around), as a plain loop: they occur in index arithmetic, not in products of nets.
inline void matmul(std::size_t m, std::size_t n, std::size_t k, const std::int64_t* A, std::ptrdiff_t a_m,
                   std::ptrdiff_t a_k, const std::int64_t* B, std::ptrdiff_t b_k, std::ptrdiff_t b_n, std::int64_t* C,
                   std::ptrdiff_t ldc, bool accumulate, const Epilogue<std::int64_t>& epilogue,
                   std::int64_t*) noexcept {
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
