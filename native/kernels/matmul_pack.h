// Copies blocks of a matrix into panels that the tiles of matmul_micro.h read sequentially.
//
// A panel holds P rows (of A) or P columns (of B) for a block of k: element (r, p) is at panel[p * P + r].
#pragma once

#include <cstddef>
#include <utility>

#include "kernels/simd.h"

namespace madaline::MADALINE_ISA::gemm {

template <class T, class F, std::size_t... L>
MADALINE_INLINE Vec<T> shuffle_lanes(Vec<T> a, Vec<T> b, F, std::index_sequence<L...>) {
  return __builtin_shufflevector(a.v, b.v, F::from(static_cast<int>(L))...);
}
template <class F, class T> MADALINE_INLINE Vec<T> shuffle_lanes(Vec<T> a, Vec<T> b) {
  return shuffle_lanes(a, b, F{}, std::make_index_sequence<static_cast<std::size_t>(Vec<T>::width)>());
}

// Alternate groups of G lanes of a and b, from the lower or upper half of every 16 bytes.
template <class T, int G, bool Upper> struct Interleave {
  static constexpr int from(int lane) {
    constexpr int half = 16 / static_cast<int>(sizeof(T));
    const int start = lane / half * half, within = lane % half;
    const int group = within / G, source = start + (Upper ? half / 2 : 0) + group / 2 * G + within % G;
    return group % 2 ? source + Vec<T>::width : source;
  }
};
// Groups of G lanes: the even groups of a and b in turn, or the odd ones.
template <class T, int G, bool Odd> struct ExchangeBlocks {
  static constexpr int from(int lane) {
    const int group = lane / G, within = lane % G;
    const int source = (group / 2 * 2 + Odd) * G + within;
    return group % 2 ? source + Vec<T>::width : source;
  }
};

// Within 16 bytes: the even lanes of a, then those of b; or the odd ones.
template <class T, bool Odd> struct Alternate {
  static constexpr int from(int lane) {
    constexpr int L = 16 / static_cast<int>(sizeof(T));
    const int start = lane / L * L, within = lane % L;
    const int source = start + within % (L / 2) * 2 + Odd;
    return within < L / 2 ? source : source + Vec<T>::width;
  }
};

// r[i][j] <-> r[j][i]: within 16 bytes by interleaving, which is one instruction per row, then by exchanging larger
// blocks.
template <class T> MADALINE_INLINE void transpose(Vec<T> (&r)[Vec<T>::width]) {
  constexpr int W = Vec<T>::width;
  if constexpr (sizeof(T) == 4) {
#pragma GCC unroll 16
    for (int i = 0; i < W; i += 4) {
      const Vec<T> ab_lower = shuffle_lanes<Interleave<T, 1, false>>(r[i], r[i + 1]),
                   ab_upper = shuffle_lanes<Interleave<T, 1, true>>(r[i], r[i + 1]);
      const Vec<T> cd_lower = shuffle_lanes<Interleave<T, 1, false>>(r[i + 2], r[i + 3]),
                   cd_upper = shuffle_lanes<Interleave<T, 1, true>>(r[i + 2], r[i + 3]);
      r[i] = shuffle_lanes<Interleave<T, 2, false>>(ab_lower, cd_lower);
      r[i + 1] = shuffle_lanes<Interleave<T, 2, true>>(ab_lower, cd_lower);
      r[i + 2] = shuffle_lanes<Interleave<T, 2, false>>(ab_upper, cd_upper);
      r[i + 3] = shuffle_lanes<Interleave<T, 2, true>>(ab_upper, cd_upper);
    }
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < W; i += 2) {
      const Vec<T> a = r[i], b = r[i + 1];
      r[i] = shuffle_lanes<Interleave<T, 1, false>>(a, b);
      r[i + 1] = shuffle_lanes<Interleave<T, 1, true>>(a, b);
    }
  }
  constexpr int G = 16 / static_cast<int>(sizeof(T));
  if constexpr (W >= 2 * G) {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i)
      if (!(i & G)) {
        const Vec<T> a = r[i], b = r[i + G];
        r[i] = shuffle_lanes<ExchangeBlocks<T, G, false>>(a, b);
        r[i + G] = shuffle_lanes<ExchangeBlocks<T, G, true>>(a, b);
      }
  }
  if constexpr (W >= 4 * G) {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i)
      if (!(i & (2 * G))) {
        const Vec<T> a = r[i], b = r[i + 2 * G];
        r[i] = shuffle_lanes<ExchangeBlocks<T, 2 * G, false>>(a, b);
        r[i + 2 * G] = shuffle_lanes<ExchangeBlocks<T, 2 * G, true>>(a, b);
      }
  }
}

// panel[p * P + r] = S[r * s_r + p * s_k] for r < rows <= P, p < k. Lanes r >= rows get meaningless values (copies of
// the last row, or zeros). Up to one vector beyond the panel may be overwritten, so panels are packed in increasing
// order and the workspace ends with a spare vector. S and panel do not overlap.
template <class T, int P>
void pack_panel(const T* S, std::ptrdiff_t s_r, std::ptrdiff_t s_k, int rows, std::size_t k, T* panel) noexcept {
  constexpr int W = Vec<T>::width, blocks = (P + W - 1) / W;
  std::size_t p = 0;
  if (s_r == 1) {
    // Overlapping stores: the next one overwrites what one writes beyond its P elements.
    if (rows == P && P % W == 0) {
      for (; p < k; ++p)
#pragma GCC unroll 8
        for (int b = 0; b < blocks; ++b)
          Vec<T>::load(S + static_cast<std::ptrdiff_t>(p) * s_k + b * W).store(panel + p * P + b * W);
    } else {
      for (; p < k; ++p)
#pragma GCC unroll 8
        for (int b = 0; b < blocks; ++b) {
          const int n = rows - b * W < 0 ? 0 : rows - b * W < W ? rows - b * W : W;
          Vec<T>::load_partial(S + static_cast<std::ptrdiff_t>(p) * s_k + b * W, n).store(panel + p * P + b * W);
        }
    }
  } else if (s_k == 1) {
    const T* row[blocks * W];
    for (int r = 0; r < blocks * W; ++r) row[r] = S + (r < rows ? r : rows - 1) * s_r;
    Vec<T> t[blocks][W];
    for (; p + W <= k; p += W) {
#pragma GCC unroll 8
      for (int b = 0; b < blocks; ++b) {
#pragma GCC unroll 16
        for (int r = 0; r < W; ++r) t[b][r] = Vec<T>::load(row[b * W + r] + p);
        transpose(t[b]);
        if constexpr (P % W == 0) {
#pragma GCC unroll 16
          for (std::size_t q = 0; q < W; ++q) t[b][q].store(panel + (p + q) * P + b * W);
        }
      }
      if constexpr (P % W != 0) {
#pragma GCC unroll 16
        for (std::size_t q = 0; q < W; ++q)
#pragma GCC unroll 8
          for (int b = 0; b < blocks; ++b) t[b][q].store(panel + (p + q) * P + b * W);
      }
    }
    if (p < k) {
      const int n = static_cast<int>(k - p);
#pragma GCC unroll 8
      for (int b = 0; b < blocks; ++b) {
#pragma GCC unroll 16
        for (int r = 0; r < W; ++r) t[b][r] = Vec<T>::load_partial(row[b * W + r] + p, n);
        transpose(t[b]);
      }
      for (int q = 0; q < n; ++q)
#pragma GCC unroll 8
        for (int b = 0; b < blocks; ++b) t[b][q].store(panel + (p + static_cast<std::size_t>(q)) * P + b * W);
    }
  } else {
    for (; p < k; ++p)
      for (int r = 0; r < P; ++r)
        panel[p * P + static_cast<std::size_t>(r)] =
            r < rows ? S[r * s_r + static_cast<std::ptrdiff_t>(p) * s_k] : T(0);
  }
}

}  // namespace madaline::MADALINE_ISA::gemm
