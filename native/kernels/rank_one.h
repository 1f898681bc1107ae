// The rank_one_step instruction: gradient descent on a gradient that is never stored,
//
//   dst[e] = w[e] - rate * g[e],   g made of outer products a_i d_j and of vectors d_j.
//
// w and dst may be the same. Rounding is that of a chain over the stored g, so results are bit-identical.
#pragma once

#include <type_traits>

#include "kernels/check.h"
#include "kernels/simd.h"

namespace madaline::MADALINE_ISA {

struct RankOnePart {
  std::int64_t start = 0, rows = 0, columns = 0;  // rows 0: a vector, without a
  bool has_a = false;
  Operand a, d;  // contiguous

  template <class V> void fields(V& v) {
    v("start", start), v("rows", rows), v("columns", columns), v.optional("a", has_a, a), v("d", d);
  }
};

struct RankOneStepSpec {
  static constexpr const char* name = "rank_one_step";
  DType dtype = DType::f32;
  std::int64_t size = 0;
  Operand w, rate, dst;  // contiguous; one number; contiguous
  std::vector<RankOnePart> parts;

  template <class V> void fields(V& v) {
    v("dtype", dtype), v("size", size), v("w", w), v("rate", rate), v("dst", dst), v("parts", parts);
  }
  void add_to(Checks& program) const;
};

template <class T> class RankOneStepOf final : public Instruction {
 public:
  explicit RankOneStepOf(const RankOneStepSpec& s)
      : size_(s.size), w_(place(s.w)), rate_(place(s.rate)), dst_(place(s.dst)) {
    for (const RankOnePart& p : s.parts)
      parts_.push_back({p.start, std::max<std::int64_t>(p.rows, 1), p.columns, p.rows > 0, place(p.a), place(p.d)});
  }

  void run(Frame& frame) const noexcept override { run_chunk(frame, 0, 1); }
  std::int64_t chunks(std::int64_t, int threads) const noexcept override {
    return std::max<std::int64_t>(1, pieces_of(size_, threads));
  }
  // Some rows of every part.
  void run_chunk(Frame& frame, std::int64_t chunk, std::int64_t n_chunks) const noexcept override {
    const T* w = reinterpret_cast<const T*>(frame.at(w_));
    T* dst = reinterpret_cast<T*>(frame.at(dst_));
    const T rate = *reinterpret_cast<const T*>(frame.at(rate_));
    for (const Part& p : parts_) {
      const T* a = reinterpret_cast<const T*>(frame.at(p.a));
      const T* d = reinterpret_cast<const T*>(frame.at(p.d));
      const Range rows = chunk_range(p.rows, chunk, n_chunks);
      const std::int64_t first = p.start + rows.begin * p.columns;
      if (p.columns >= W) long_rows(rows, p, a, d, rate, w + first, dst + first);
      else short_rows(rows, p, a, d, rate, w + first, dst + first);
    }
  }

 private:
  static constexpr std::int64_t W = Vec<T>::width;

  struct Part {
    std::int64_t start, rows, columns;
    bool is_outer;
    Place a, d;
  };

  static Place place(const Operand& o) {
    constexpr std::int64_t item = sizeof(T);
    return {o.buffer, o.offset * item, o.row_advance * item};
  }

  static void long_rows(Range rows, const Part& p, const T* a, const T* d, T rate, const T* w, T* dst) noexcept {
    const Vec<T> down(-rate);
    for (std::int64_t i = rows.begin; i < rows.end; ++i, w += p.columns, dst += p.columns) {
      const Vec<T> factor(p.is_outer ? a[i] : T(1));
      std::int64_t j = 0;
      for (; j + 4 * W <= p.columns; j += 4 * W) {
#pragma GCC unroll 4
        for (std::int64_t v = j; v < j + 4 * W; v += W)
          (down * (factor * Vec<T>::load(d + v)) + Vec<T>::load(w + v)).store(dst + v);
      }
      for (; j + W <= p.columns; j += W) (down * (factor * Vec<T>::load(d + j)) + Vec<T>::load(w + j)).store(dst + j);
      for (; j < p.columns; ++j) dst[j] = -rate * (p.is_outer ? a[i] * d[j] : d[j]) + w[j];
    }
  }

  // Fewer columns than a vector has lanes: setting up vectors would take longer than a row.
  static void short_rows(Range rows, const Part& p, const T* a, const T* d, T rate, const T* w, T* dst) noexcept {
    const auto run = [&](auto columns) {  // a constant, or p.columns
      for (std::int64_t i = rows.begin; i < rows.end; ++i, w += columns, dst += columns) {
        const T factor = p.is_outer ? a[i] : T(1);
        for (std::int64_t j = 0; j < columns; ++j) dst[j] = -rate * (factor * d[j]) + w[j];
      }
    };
    if (p.columns == 1) run(std::integral_constant<std::int64_t, 1>());
    else if (p.columns == 2) run(std::integral_constant<std::int64_t, 2>());
    else if (p.columns == 3) run(std::integral_constant<std::int64_t, 3>());
    else run(p.columns);
  }

  std::int64_t size_;
  Place w_, rate_, dst_;
  std::vector<Part> parts_;
};

inline void RankOneStepSpec::add_to(Checks& program) const {
  if (!is_float(dtype)) invalid("rank_one_step exists for floats only.");
  if (size < 0) invalid("rank_one_step has a negative size.");
  const auto vector = [&](const Operand& o, std::int64_t n, bool written, const std::string& name) {
    program.check(o, {{n, false}}, written, name);
    program.require_dtype(o.buffer, dtype, name);
    if (o.strides[0] != 1) invalid(name + " must have unit stride.");
  };
  vector(w, size, false, "w of rank_one_step"), vector(dst, size, true, "dst of rank_one_step");
  vector(rate, 1, false, "The rate of rank_one_step");
  std::int64_t end = 0;
  for (const RankOnePart& p : parts) {
    if (p.has_a != (p.rows > 0)) invalid("A part of rank_one_step has rows if it has a.");
    if (p.start != end || p.rows < 0 || p.columns < 0 || p.columns > size || p.rows > size)
      invalid("The parts of rank_one_step must follow each other without gaps.");
    if (p.rows > 0) vector(p.a, p.rows, false, "a of rank_one_step");
    vector(p.d, p.columns, false, "d of rank_one_step");
    end = p.start + std::max<std::int64_t>(p.rows, 1) * p.columns;
  }
  if (end != size) invalid("The parts of rank_one_step must make up w.");
  if (dtype == DType::f32) program.machine().add(std::make_unique<RankOneStepOf<float>>(*this));
  else program.machine().add(std::make_unique<RankOneStepOf<double>>(*this));
}

}  // namespace madaline::MADALINE_ISA
