// The innermost kernels of the matrix product: one tile of C, held in registers over a whole block of k.
//
// Every tile adds its products in the order p = 0, 1, 2 ..., one fma each, starting from zero. So the bits of an
// element of C do not depend on the height of the tile or on whether the operands were packed.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "kernels/simd.h"

namespace madaline::MADALINE_ISA {

// Operations on the product before it is stored, and a callback for finished rows.
template <class T> struct Epilogue {
  const T* bias = nullptr;         // added to every row; null for none
  std::ptrdiff_t bias_stride = 1;  // 1, or 0 for the same value in every column
  bool relu = false;               // max(c, 0); NaN stays NaN
  const T* gate = nullptr;         // last: c where gate(i, j) > 0, else 0 (the slope of a rectifier); null for none
  std::ptrdiff_t gate_stride = 0;  // from one row of the gate to the next; its columns are contiguous
  // Called when rows [first_row, first_row + n_rows) of C are final; in increasing order, each row once.
  void (*after_panel)(void* context, std::size_t first_row, std::size_t n_rows) = nullptr;
  void* context = nullptr;
};

namespace gemm {

// Register tiles are R rows by NV vectors. The largest one fills all registers: R * NV accumulators, NV vectors of B
// and one broadcast of A.
#if defined(MADALINE_AVX512)
inline constexpr int kTileRows = 12;
#elif defined(MADALINE_AVX2) || defined(MADALINE_NEON)
inline constexpr int kTileRows = 6;
#else
inline constexpr int kTileRows = 4;
#endif
inline constexpr int kTileVectors = 2;
template <class T> inline constexpr int kTileCols = kTileVectors * Vec<T>::width;

// Where a tile begins in C, in the bias and in the gate (null for none).
template <class T> struct Target {
  T* C;
  const T* bias;
  const T* gate = nullptr;
};

// How a tile is stored: element (i, j) at C[i * row + j * col], after adding what C holds, the bias, relu and the gate.
struct Store {
  std::ptrdiff_t row, col;
  std::ptrdiff_t bias_row, bias_col;
  std::ptrdiff_t gate_row, gate_col;
  bool add, relu;

  bool is_plain() const { return col == 1 && gate_col == 1; }  // a vector is stored directly
  template <class T> MADALINE_INLINE Target<T> move(Target<T> to, std::size_t i, std::size_t j) const {
    const auto r = static_cast<std::ptrdiff_t>(i), c = static_cast<std::ptrdiff_t>(j);
    return {to.C + r * row + c * col, to.bias ? to.bias + r * bias_row + c * bias_col : nullptr,
            to.gate ? to.gate + r * gate_row + c * gate_col : nullptr};
  }
};

// What the tiles of a strip of columns share. B(p, j) = B[p * b_k + j], A(i, p) = A[i * a_m + p * a_k].
template <class T> struct Strip {
  std::size_t k;
  std::ptrdiff_t a_m, a_k;
  const T* B;
  std::ptrdiff_t b_k;
  int cols;
  const Store* store;
};

// sum = fma(a, b, sum). Written as an instruction because in an unrolled loop GCC 12 otherwise selects forms that
// overwrite a or b instead of sum, runs out of registers, and spills: 5 to 8 % slower.
template <class T> MADALINE_INLINE void add_product(Vec<T>& sum, Vec<T> a, Vec<T> b) {
#if defined(MADALINE_AVX512) || defined(MADALINE_AVX2)
  if constexpr (sizeof(T) == 4) asm("vfmadd231ps %2, %1, %0" : "+v"(sum.v) : "v"(a.v), "v"(b.v));
  else asm("vfmadd231pd %2, %1, %0" : "+v"(sum.v) : "v"(a.v), "v"(b.v));
#else
  sum = fma(a, b, sum);
#endif
}

// Hides from the compiler where x comes from.
template <class T> MADALINE_INLINE void launder(const T*& x) { asm("" : "+r"(x)); }

template <class T> MADALINE_INLINE Vec<T> relu_lanes(Vec<T> x) { return larger(Vec<T>(T(0)), x); }
template <class T> MADALINE_INLINE Vec<T> gate_lanes(Vec<T> gate, Vec<T> x) {
  const Vec<T> zero(T(0));
  return select(gate > zero, x, zero);
}

// C(i, j) = epilogue(sum) for one element; slow, for transposed and partial tiles.
template <class T> MADALINE_INLINE void store_element(T sum, int i, int j, Target<T> to, const Store& store) {
  T* c = to.C + i * store.row + j * store.col;
  if (store.add) sum = sum + *c;
  if (to.bias) sum = sum + to.bias[i * store.bias_row + j * store.bias_col];
  if (store.relu && sum < T(0)) sum = T(0);
  if (to.gate && !(to.gate[i * store.gate_row + j * store.gate_col] > T(0))) sum = T(0);
  *c = sum;
}

// C(i, j) = epilogue(sums[i * ld + j]) for i < rows, j < cols: for the tiles at the right edge and the transposed ones.
// A whole number of vectors is readable in each row of sums.
template <class T>
[[gnu::noinline]] void store_edge(const T* sums, int ld, int rows, int cols, Target<T> to,
                                  const Store& store) noexcept {
  constexpr int W = Vec<T>::width;
  if (!store.is_plain()) {
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i) store_element(sums[i * ld + j], i, j, to, store);
    return;
  }
  for (int j = 0; j < cols; j += W) {
    const int n = cols - j < W ? cols - j : W;
    Vec<T> bias{};
    if (to.bias) bias = store.bias_col ? Vec<T>::load_partial(to.bias + j, n) : Vec<T>(*to.bias);
    for (int i = 0; i < rows; ++i) {
      T* c = to.C + i * store.row + j;
      Vec<T> x = Vec<T>::load(sums + i * ld + j);
      if (store.add) x = x + Vec<T>::load_partial(c, n);
      if (to.bias) x = x + bias;
      if (store.relu) x = relu_lanes(x);
      if (to.gate) x = gate_lanes(Vec<T>::load_partial(to.gate + i * store.gate_row + j, n), x);
      x.store_partial(c, n);
    }
  }
}

// How a tile accesses an operand. Known strides become part of the load addresses: with fewer instructions besides the
// multiplications, other load on the core matters less (decision 0012).
enum class Reach { any, rows, columns, packed };  // A: a_k = 1, a_m = 1, a panel of kTileRows; B: a panel of kTileCols

// C(i, j) = epilogue(sum_p A(i, p) B(p, j)) for i < R, j < cols, where (NV - 1) * width < cols <= NV * width.
// PartialB: nothing is read beyond column cols - 1 of B; else B has NV * width readable columns. C overlaps neither A
// nor B. If AReach is not `any`, cols = NV * width and the store is plain.
template <class T, int R, int NV, bool PartialB, Reach AReach = Reach::any, Reach BReach = Reach::any>
[[gnu::noinline]] void tile(const Strip<T>& strip, const T* A, Target<T> to) noexcept {
  constexpr int W = Vec<T>::width;
  constexpr bool unit_m = AReach == Reach::columns || AReach == Reach::packed;
  const std::ptrdiff_t a_m = unit_m ? 1 : strip.a_m;
  const std::ptrdiff_t a_k = AReach == Reach::rows ? 1 : AReach == Reach::packed ? kTileRows : strip.a_k;
  const std::ptrdiff_t b_k = BReach == Reach::packed ? kTileCols<T> : strip.b_k;
  const int last = strip.cols - (NV - 1) * W;
  const T* B = strip.B;
  Vec<T> sum[R][NV];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) sum[i][v] = Vec<T>(T(0));

  // One pointer for every three rows: each row is then accessed by an addressing mode (stride times 0, 1 or 2). If GCC
  // saw that they are related, it would keep R offsets instead.
  constexpr int per_group = unit_m ? R : 3, groups = (R + per_group - 1) / per_group;
  const T* a_rows[groups];
#pragma GCC unroll 8
  for (int g = 0; g < groups; ++g) {
    a_rows[g] = A + per_group * g * a_m;
    launder(a_rows[g]);
  }
  // The step at q_a and q_b steps from the pointers.
  const auto step = [&](int q_a, int q_b) __attribute__((always_inline)) {
    const auto a_at = [&](int i) __attribute__((always_inline)) {
      return Vec<T>(a_rows[i / per_group][i % per_group * a_m + q_a * a_k]);
    };
    const auto b_at = [&](int v) __attribute__((always_inline)) {
      const T* b = B + q_b * b_k + v * W;
      return PartialB && v == NV - 1 ? Vec<T>::load_partial(b, last) : Vec<T>::load(b);
    };
    // The shorter side of the tile stays in registers while the other is streamed.
    if constexpr (R < NV) {
      Vec<T> a[R];
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) a[i] = a_at(i);
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) {
        const Vec<T> b = b_at(v);
#pragma GCC unroll 16
        for (int i = 0; i < R; ++i) add_product(sum[i][v], a[i], b);
      }
    } else {
      Vec<T> b[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) b[v] = b_at(v);
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
        const Vec<T> a = a_at(i);
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v) add_product(sum[i][v], a, b[v]);
      }
    }
  };
  const auto move_a = [&](int steps) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (int g = 0; g < groups; ++g) {
      a_rows[g] += steps * a_k;
      launder(a_rows[g]);
    }
  };
  const auto move_b = [&](int steps) __attribute__((always_inline)) {
    B += steps * b_k;
    launder(B);
  };
  // Four steps per iteration: the processor predicts the end of a loop of up to about 80 iterations, and a
  // misprediction costs 15 cycles. Pointers are incremented as rarely as addressing modes allow: any constant, or one
  // stride.
  constexpr int a_turn = AReach == Reach::any ? 1 : AReach == Reach::columns ? 2 : 4;
  constexpr int b_turn = BReach == Reach::packed ? 4 : 2;
  const std::size_t k = strip.k;
  std::size_t p = 0;
  for (; p + 4 <= k; p += 4) {
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      step(q % a_turn, q % b_turn);
      if ((q + 1) % a_turn == 0) move_a(a_turn);
      if ((q + 1) % b_turn == 0) move_b(b_turn);
    }
  }
  for (; p < k; ++p) {
    step(0, 0);
    move_a(1);
    move_b(1);
  }

  const Store& store = *strip.store;
  if constexpr (AReach == Reach::any) {
    if (last < W || !store.is_plain()) {
      alignas(64) T sums[R * NV * W];
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v) sum[i][v].store(sums + (i * NV + v) * W);
      return store_edge(sums, NV * W, R, strip.cols, to, store);
    }
  }
  if (store.add) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[i][v] = sum[i][v] + Vec<T>::load(to.C + i * store.row + v * W);
  }
  if (to.bias) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      const Vec<T> bias = store.bias_col ? Vec<T>::load(to.bias + v * W) : Vec<T>(*to.bias);
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) sum[i][v] = sum[i][v] + bias;
    }
  }
  if (store.relu) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[i][v] = relu_lanes(sum[i][v]);
  }
  if (to.gate) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v)
        sum[i][v] = gate_lanes(Vec<T>::load(to.gate + i * store.gate_row + v * W), sum[i][v]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) sum[i][v].store(to.C + i * store.row + v * W);
}

template <class T> using TileFunction = void (*)(const Strip<T>&, const T*, Target<T>) noexcept;

inline constexpr int kWideRows = 3;              // products of at most this many rows use wide tiles
inline constexpr int kTallRows = 2 * kTileRows;  // rows of tiles one vector wide, for enough sums

// tiles<...>[R - 1] is the tile of R rows.
template <class T, int NV, bool PartialB, Reach AReach, Reach BReach, int... I>
constexpr std::array<TileFunction<T>, sizeof...(I)> tile_table(std::integer_sequence<int, I...>) {
  return {&tile<T, I + 1, NV, PartialB, AReach, BReach>...};
}
template <class T, int NV, bool PartialB = false, Reach AReach = Reach::any, Reach BReach = Reach::any>
inline constexpr auto tiles = tile_table<T, NV, PartialB, AReach, BReach>(
    std::make_integer_sequence<int, (NV > kTileVectors || PartialB) ? kWideRows
                                    : NV == 1                       ? kTallRows
                                                                    : kTileRows>());

// The full tiles for these kinds of access.
template <class T> const TileFunction<T>* full_tiles(Reach a, Reach b) {
  const auto choose = [b]<Reach A>(std::integral_constant<Reach, A>) {
    return b == Reach::packed ? tiles<T, 2, false, A, Reach::packed>.data() : tiles<T, 2, false, A>.data();
  };
  if (a == Reach::packed) return choose(std::integral_constant<Reach, Reach::packed>());
  if (a == Reach::rows) return choose(std::integral_constant<Reach, Reach::rows>());
  if (a == Reach::columns) return choose(std::integral_constant<Reach, Reach::columns>());
  return tiles<T, 2>.data();
}

}  // namespace gemm
}  // namespace madaline::MADALINE_ISA
