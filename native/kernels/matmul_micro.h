// The innermost kernels of the matrix product: one tile of C, held in registers over a whole block of k.
//
// Every tile adds its products in the order p = 0, 1, 2 ..., one fma each, starting from zero. So an element of C has the
// same bits whatever the height of the tile that computes it, and whether its operands were packed or not.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "kernels/simd.h"

namespace madaline::MADALINE_ISA {

// What becomes of the product before it is stored, and what is run when rows are done.
template <class T> struct Epilogue {
  const T* bias = nullptr;         // added to every row; null for none
  std::ptrdiff_t bias_stride = 1;  // 1, or 0 for the same value in every column
  bool relu = false;               // max(c, 0); NaN stays NaN
  // Called when rows [first_row, first_row + n_rows) of C are final; in increasing order, each row once.
  void (*after_panel)(void* context, std::size_t first_row, std::size_t n_rows) = nullptr;
  void* context = nullptr;
};

// Register tiles are R rows by NV vectors. The largest fills the registers but for the operands: R * NV accumulators, NV
// vectors of B and one broadcast of A.
#if defined(MADALINE_AVX512)
inline constexpr int kTileRows = 12;
#elif defined(MADALINE_AVX2) || defined(MADALINE_NEON)
inline constexpr int kTileRows = 6;
#else
inline constexpr int kTileRows = 4;
#endif
inline constexpr int kTileVectors = 2;
// Rows of the tiles that are one vector wide: twice as many, so that as many sums are under way.
inline constexpr int kThinTileRows = kTileRows < 12 ? 2 * kTileRows : 12;

template <class T> inline constexpr int kTileCols = kTileVectors * Vec<T>::width;

// Where a tile goes: element (i, j) to C[i * row + j * col].
template <class T> struct Output {
  T* C;
  std::ptrdiff_t row, col;
  bool add;  // to what C holds
  const T* bias;
  std::ptrdiff_t bias_row, bias_col;
  bool relu;

  Output at(std::size_t i, std::size_t j) const {
    const auto r = static_cast<std::ptrdiff_t>(i), c = static_cast<std::ptrdiff_t>(j);
    Output moved = *this;
    moved.C += r * row + c * col;
    if (bias) moved.bias += r * bias_row + c * bias_col;
    return moved;
  }
};

template <class T> MADALINE_INLINE Vec<T> relu_lanes(Vec<T> x) { return larger(Vec<T>(T(0)), x); }

// C(i, j) = epilogue(sums[i * ld + j]) for i < rows, j < cols: for the tiles at the right edge and the transposed ones.
// sums is readable up to a whole vector beyond column cols - 1.
template <class T>
[[gnu::noinline]] void store_edge(const T* sums, int ld, int rows, int cols, const Output<T>& out) noexcept {
  constexpr int W = Vec<T>::width;
  if (out.col == 1) {
    for (int j = 0; j < cols; j += W) {
      const int n = cols - j < W ? cols - j : W;
      Vec<T> bias{};
      if (out.bias) bias = out.bias_col ? Vec<T>::load_partial(out.bias + j, n) : Vec<T>(*out.bias);
      for (int i = 0; i < rows; ++i) {
        T* c = out.C + i * out.row + j;
        Vec<T> x = Vec<T>::load(sums + i * ld + j);
        if (out.add) x = x + Vec<T>::load_partial(c, n);
        if (out.bias) x = x + bias;
        if (out.relu) x = relu_lanes(x);
        x.store_partial(c, n);
      }
    }
    return;
  }
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) {
      T* c = out.C + i * out.row + j * out.col;
      T x = sums[i * ld + j];
      if (out.add) x = x + *c;
      if (out.bias) x = x + out.bias[i * out.bias_row + j * out.bias_col];
      if (out.relu) x = x < T(0) ? T(0) : x;
      *c = x;
    }
}

// C(i, j) = epilogue(sum_p A[i * a_m + p * a_k] * B[p * b_k + j]) for i < R, j < cols, (NV - 1) * width < cols <= NV * width.
// PartialB: nothing is read beyond column cols - 1 of B; else B has NV * width readable columns. C overlaps neither A nor B.
template <class T, int R, int NV, bool PartialB>
[[gnu::noinline]] void tile(std::size_t k, const T* A, std::ptrdiff_t a_m, std::ptrdiff_t a_k, const T* B, std::ptrdiff_t b_k, int cols,
                            const Output<T>& out) noexcept {
  constexpr int W = Vec<T>::width;
  const int last = cols - (NV - 1) * W;
  Vec<T> sum[R][NV];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) sum[i][v] = Vec<T>(T(0));

  // One pointer for every three rows: each row is then reached by an addressing mode (stride times 0, 1 or 2). The empty asm
  // hides that the pointers are related, else GCC keeps R offsets and spills them.
  constexpr int groups = (R + 2) / 3;
  const T* a_rows[groups];
#pragma GCC unroll 8
  for (int g = 0; g < groups; ++g) {
    a_rows[g] = A + 3 * g * a_m;
    asm("" : "+r"(a_rows[g]));
  }
  const auto step = [&]() __attribute__((always_inline)) {
    Vec<T> b[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) b[v] = PartialB && v == NV - 1 ? Vec<T>::load_partial(B + v * W, last) : Vec<T>::load(B + v * W);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const Vec<T> a(a_rows[i / 3][i % 3 * a_m]);
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[i][v] = fma(a, b[v], sum[i][v]);
    }
#pragma GCC unroll 8
    for (int g = 0; g < groups; ++g) {
      a_rows[g] += a_k;
      asm("" : "+r"(a_rows[g]));
    }
    B += b_k;
    asm("" : "+r"(B));
  };
  // Four steps a turn: the processor foresees the end of a loop of up to some 80 turns, and a surprise costs 15 cycles.
  std::size_t p = 0;
  for (; p + 4 <= k; p += 4) {
    step();
    step();
    step();
    step();
  }
  for (; p < k; ++p) step();

  if (last < W || out.col != 1) {
    alignas(64) T sums[R * NV * W];
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[i][v].store(sums + (i * NV + v) * W);
    return store_edge(sums, NV * W, R, cols, out);
  }
  if (out.add) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[i][v] = sum[i][v] + Vec<T>::load(out.C + i * out.row + v * W);
  }
  if (out.bias) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      const Vec<T> bias = out.bias_col ? Vec<T>::load(out.bias + v * W) : Vec<T>(*out.bias);
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) sum[i][v] = sum[i][v] + bias;
    }
  }
  if (out.relu) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[i][v] = relu_lanes(sum[i][v]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) sum[i][v].store(out.C + i * out.row + v * W);
}

template <class T>
using TileFunction = void (*)(std::size_t, const T*, std::ptrdiff_t, std::ptrdiff_t, const T*, std::ptrdiff_t, int, const Output<T>&) noexcept;

// tiles<...>[R - 1] is the tile of R rows.
template <class T, int NV, bool PartialB, int... I>
constexpr std::array<TileFunction<T>, sizeof...(I)> tile_table(std::integer_sequence<int, I...>) {
  return {&tile<T, I + 1, NV, PartialB>...};
}
template <class T, int NV, bool PartialB>
inline constexpr auto tiles = tile_table<T, NV, PartialB>(std::make_integer_sequence<int, NV == 1 ? kThinTileRows : NV == 2 ? kTileRows : 3>());

// rows x cols of C through the tile that fits; rows <= kTileRows (kThinTileRows if one vector holds cols), cols <= kTileCols.
template <class T>
MADALINE_INLINE void run_tile(int rows, int cols, bool partial_b, std::size_t k, const T* A, std::ptrdiff_t a_m, std::ptrdiff_t a_k, const T* B,
                              std::ptrdiff_t b_k, const Output<T>& out) noexcept {
  const bool thin = cols <= Vec<T>::width, partial = partial_b && cols % Vec<T>::width != 0;
  const auto& table = partial ? tiles<T, 2, true> : tiles<T, 2, false>;
  const auto& thin_table = partial ? tiles<T, 1, true> : tiles<T, 1, false>;
  (thin ? thin_table[static_cast<std::size_t>(rows - 1)] : table[static_cast<std::size_t>(rows - 1)])(k, A, a_m, a_k, B, b_k, cols, out);
}

}  // namespace madaline::MADALINE_ISA
