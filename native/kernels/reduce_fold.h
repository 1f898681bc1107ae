// The arithmetic of reductions: along contiguous memory (Fold) and down columns (fold_columns).
//
// Sums of float32 are computed in blocks of at most 256 by SIMD lanes; the sums of blocks are added in double
// precision. So the error does not grow with the length, and the order of additions depends only on the length.
#pragma once

#include "kernels/combine.h"
#include "kernels/vector_math.h"

namespace madaline::MADALINE_ISA {

inline constexpr std::int64_t kFoldBlock = 256;

// Initial values of lanes, and how lanes are combined. max and min propagate NaN.
template <Reduction op, class T> MADALINE_INLINE Vec<T> fold_vectors(Vec<T> a, Vec<T> b) {
  if constexpr (op == Reduction::sum) return a + b;
  else if constexpr (op == Reduction::prod) return a * b;
  else if constexpr (op == Reduction::max) return maximum(a, b);
  else return minimum(a, b);
}

// op over x[0 .. n), n <= kFoldBlock for sums.
template <Reduction op, class T> T fold_block(const T* x, std::int64_t n) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr std::int64_t width = Vec<T>::width;
    const Vec<T> start(identity_of<T>(op));
    Vec<T> a = start, b = start, c = start, d = start;
    std::int64_t i = 0;
    for (; i + 4 * width <= n; i += 4 * width) {
      a = fold_vectors<op>(a, Vec<T>::load(x + i));
      b = fold_vectors<op>(b, Vec<T>::load(x + i + width));
      c = fold_vectors<op>(c, Vec<T>::load(x + i + 2 * width));
      d = fold_vectors<op>(d, Vec<T>::load(x + i + 3 * width));
    }
    for (; i + width <= n; i += width) a = fold_vectors<op>(a, Vec<T>::load(x + i));
    a = fold_vectors<op>(fold_vectors<op>(a, b), fold_vectors<op>(c, d));
    T result = n >= width ? fold_lanes(a, [](T p, T q) { return fold_pair(op, p, q); }) : identity_of<T>(op);
    for (; i < n; ++i) result = fold_pair(op, result, x[i]);
    return result;
  } else {
    T result = identity_of<T>(op);
    for (std::int64_t i = 0; i < n; ++i) result = fold_pair(op, result, x[i]);
    return result;
  }
}

// sum of exp(x[i] - shift), n <= kFoldBlock
template <class T> T fold_exp(const T* x, std::int64_t n, T shift) noexcept {
  constexpr std::int64_t width = Vec<T>::width;
  Vec<T> sum(T(0));
  std::int64_t i = 0;
  for (; i + width <= n; i += width) sum = sum + Exp{}(Vec<T>::load(x + i) - Vec<T>(shift));
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    T lanes[Vec<T>::width] = {};
    Exp{}(Vec<T>::load_partial(x + i, rest) - Vec<T>(shift)).store_partial(lanes, rest);
    sum = sum + Vec<T>::load(lanes);
  }
  return horizontal_sum(sum);
}

// A partial reduction: pieces are added in order, and a later partial reduction can be merged into an earlier one.
template <class T> struct Fold {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  Reduction op;
  Sum sum;             // of sum, prod; of exp(x - best) for logsumexp
  T best;              // of max, min, logsumexp, argmax
  std::int64_t index;  // of argmax
  std::int64_t count;

  explicit Fold(Reduction o)
      : op(o), sum(op == Reduction::prod ? Sum(1) : Sum(0)), best(identity_of<T>(op)), index(0), count(0) {
    if (op == Reduction::argmax) best = identity_of<T>(Reduction::max);
  }

  void add(const T* x, std::int64_t n) noexcept {
    switch (op) {
      case Reduction::sum:
        for (std::int64_t i = 0; i < n; i += kFoldBlock) {
          sum = fold_pair(op, sum, static_cast<Sum>(fold_block<Reduction::sum>(x + i, std::min(kFoldBlock, n - i))));
        }
        break;
      case Reduction::prod:
        for (std::int64_t i = 0; i < n; ++i) sum = fold_pair(op, sum, static_cast<Sum>(x[i]));
        break;
      case Reduction::max: best = fold_pair(op, best, fold_block<Reduction::max>(x, n)); break;
      case Reduction::min: best = fold_pair(op, best, fold_block<Reduction::min>(x, n)); break;
      case Reduction::logsumexp:
        if constexpr (std::is_floating_point_v<T>) add_exponentials(x, n);
        break;
      case Reduction::argmax:
        for (std::int64_t i = 0; i < n && best == best; ++i) {  // once NaN, always NaN
          if (x[i] > best || x[i] != x[i] || (count == 0 && i == 0)) best = x[i], index = count + i;
        }
        break;
    }
    count += n;
  }

  void join(const Fold& later) noexcept {
    if (op == Reduction::argmax) {
      if (best == best && (later.best > best || later.best != later.best))
        best = later.best, index = count + later.index;
    } else if (op == Reduction::logsumexp) {
      if constexpr (std::is_floating_point_v<T>) {
        const T top = fold_pair(Reduction::max, best, later.best);
        sum = sum * std::exp(double(shift_of(best)) - shift_of(top)) +
              later.sum * std::exp(double(shift_of(later.best)) - shift_of(top));
        best = top;
      }
    } else {
      sum = fold_pair(op, sum, later.sum);
      best = fold_pair(op, best, later.best);
    }
    count += later.count;
  }

  T result() const noexcept {
    if (op == Reduction::sum || op == Reduction::prod) return static_cast<T>(sum);
    if constexpr (std::is_floating_point_v<T>) {
      if (op == Reduction::logsumexp) return static_cast<T>(std::log(sum) + double(shift_of(best)));
    }
    return best;
  }

 private:
  // Subtracted before exp: the largest value, or 0 if that would give inf - inf.
  static T shift_of(T largest) {
    if constexpr (std::is_floating_point_v<T>) return std::isfinite(largest) ? largest : T(0);
    else return largest;
  }
  void add_exponentials(const T* x, std::int64_t n) noexcept {
    const T top = fold_pair(Reduction::max, best, fold_block<Reduction::max>(x, n));
    const T shift = shift_of(top);
    if (count > 0) sum *= std::exp(double(shift_of(best)) - double(shift));
    best = top;
    for (std::int64_t i = 0; i < n; i += kFoldBlock) sum += double(fold_exp(x + i, std::min(kFoldBlock, n - i), shift));
  }
};

// Rows of a matrix, or of the products of two, element by element; rows are `stride` elements apart.
template <class T> struct Rows {
  const T* x;
  std::int64_t stride;
  MADALINE_INLINE Rows from(std::int64_t j) const { return {x + j, stride}; }
  MADALINE_INLINE Vec<T> at(std::int64_t r, std::int64_t j, int cols) const {
    return cols > 0 ? Vec<T>::load_partial(x + r * stride + j, cols) : Vec<T>::load(x + r * stride + j);
  }
};
template <class T> struct RowProducts {
  Rows<T> a, b;
  MADALINE_INLINE RowProducts from(std::int64_t j) const { return {a.from(j), b.from(j)}; }
  MADALINE_INLINE Vec<T> at(std::int64_t r, std::int64_t j, int cols) const {
    return a.at(r, j, cols) * b.at(r, j, cols);
  }
};

// out[j] = op over r < n_rows of x(r, j), for NV whole vectors of columns (or, if cols > 0, the first cols of one).
template <Reduction op, int NV, class T, class X>
MADALINE_INLINE void fold_strip(X x, std::int64_t n_rows, T* out, int cols) {
  constexpr int width = Vec<T>::width;
  // Rows [r0, r1), summed in groups of 32 so that the error of a sum grows with the groups, not with the rows.
  const auto fold = [&](std::int64_t r0, std::int64_t r1, Vec<T>(&total)[NV]) {
    constexpr std::int64_t group = op == Reduction::sum ? 32 : std::int64_t(1) << 62;
    for (std::int64_t g = r0; g < r1;) {
      const std::int64_t end = r1 - g <= group ? r1 : g + group;
      Vec<T> acc[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) acc[v] = x.at(g, v * width, cols);
      for (std::int64_t r = g + 1; r < end; ++r) {
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v) acc[v] = fold_vectors<op>(acc[v], x.at(r, v * width, cols));
      }
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) total[v] = g == r0 ? acc[v] : fold_vectors<op>(total[v], acc[v]);
      g = end;
    }
  };
  Vec<T> acc[NV] = {};
  if (op != Reduction::sum || n_rows <= kFoldBlock) {
    fold(0, n_rows, acc);
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      if (cols > 0) acc[v].store_partial(out + v * width, cols);
      else acc[v].store(out + v * width);
    }
    return;
  }
  double totals[NV * width] = {};
  for (std::int64_t r0 = 0; r0 < n_rows; r0 += kFoldBlock) {
    fold(r0, std::min(n_rows, r0 + kFoldBlock), acc);
    T lanes[NV * width];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) acc[v].store(lanes + v * width);
    for (int j = 0; j < NV * width; ++j) totals[j] += double(lanes[j]);
  }
  for (int j = 0; j < (cols > 0 ? cols : NV * width); ++j) out[j] = static_cast<T>(totals[j]);
}

// out[j] = log sum_r exp(x[r, j]) for one vector of columns.
template <class T>
MADALINE_INLINE void logsumexp_strip(const T* x, std::int64_t stride, std::int64_t n_rows, T* out, int cols) {
  const auto load = [&](std::int64_t r) { return Vec<T>::load_partial(x + r * stride, cols); };
  Vec<T> top = load(0);
  for (std::int64_t r = 1; r < n_rows; ++r) top = maximum(top, load(r));
  const Vec<T> shift = select(abs(top) < Vec<T>(T(INFINITY)), top, Vec<T>(T(0)));
  Vec<T> sum(T(0));
  for (std::int64_t r0 = 0; r0 < n_rows; r0 += kFoldBlock) {
    Vec<T> part(T(0));
    for (std::int64_t r = r0; r < std::min(n_rows, r0 + kFoldBlock); ++r) part = part + Exp{}(load(r) - shift);
    sum = sum + part;
  }
  (Log{}(sum) + shift).store_partial(out, cols);
}

// out[j] = op over rows of x(r, j), j < n; n_rows >= 1. For floats.
template <Reduction op, class T, class X>
void fold_each_column(X x, std::int64_t n_rows, T* out, std::int64_t n) noexcept {
  constexpr std::int64_t width = Vec<T>::width;
  std::int64_t j = 0;
  for (; j + 8 * width <= n; j += 8 * width) fold_strip<op, 8>(x.from(j), n_rows, out + j, 0);
  for (; j + 2 * width <= n; j += 2 * width) fold_strip<op, 2>(x.from(j), n_rows, out + j, 0);
  for (; j + width <= n; j += width) fold_strip<op, 1>(x.from(j), n_rows, out + j, 0);
  if (j < n) fold_strip<op, 1>(x.from(j), n_rows, out + j, static_cast<int>(n - j));
}

// out[j] = op over rows of x[r * stride + j], j < n; n_rows >= 1. Not for argmax.
template <Reduction op, class T>
void fold_columns(const T* x, std::int64_t stride, std::int64_t n_rows, T* out, std::int64_t n) noexcept {
  if constexpr (!std::is_floating_point_v<T>) {
    for (std::int64_t j = 0; j < n; ++j) out[j] = x[j];
    for (std::int64_t r = 1; r < n_rows; ++r)
      for (std::int64_t j = 0; j < n; ++j) out[j] = fold_pair(op, out[j], x[r * stride + j]);
  } else if constexpr (op == Reduction::logsumexp) {
    constexpr std::int64_t width = Vec<T>::width;
    for (std::int64_t j = 0; j < n; j += width)
      logsumexp_strip(x + j, stride, n_rows, out + j, static_cast<int>(std::min(width, n - j)));
  } else {
    fold_each_column<op>(Rows<T>{x, stride}, n_rows, out, n);
  }
}

}  // namespace madaline::MADALINE_ISA
