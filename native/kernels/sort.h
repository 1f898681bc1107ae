// argsort:  dst[o, 0 .. n, i] = the indices that sort src[o, 0 .. n, i], stable, NaN last.
#pragma once

#include <utility>

#include "kernels/check.h"

namespace madaline::MADALINE_ISA {

struct ArgsortSpec {
  static constexpr const char* name = "argsort";
  DType dtype = DType::f32;
  Dim outer, axis, inner;
  Operand src, dst;  // strides (outer, axis, inner)

  template <class V> void fields(V& v) {
    v("dtype", dtype), v("outer", outer), v("axis", axis), v("inner", inner), v("src", src), v("dst", dst);
  }
  void add_to(Checks& program) const;
};

template <class T> class ArgsortOf final : public Instruction {
 public:
  ArgsortOf(Dim outer, Dim axis, Dim inner, const Operand& src, const Operand& dst)
      : outer_(outer), axis_(axis), inner_(inner) {
    constexpr std::int64_t item = sizeof(T);
    src_ = {src.buffer, src.offset * item, src.row_advance * item};
    dst_ = {dst.buffer, dst.offset * 8, dst.row_advance * 8};
    std::copy_n(src.strides.begin(), 3, x_), std::copy_n(dst.strides.begin(), 3, y_);
  }

  void run(Frame& frame) const noexcept override {
    const std::int64_t n = axis_.size(frame.rows), width = inner_.size(frame.rows), outer = outer_.size(frame.rows);
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < width; ++i) {
        const T* x = reinterpret_cast<const T*>(frame.at(src_)) + o * x_[0] + i * x_[2];
        sort(x, reinterpret_cast<std::int64_t*>(frame.at(dst_)) + o * y_[0] + i * y_[2], n);
      }
    }
  }

 private:
  // Heap sort: in place, strided, without extra memory. Ties are broken by index, so the order is stable.
  void sort(const T* x, std::int64_t* y, std::int64_t n) const noexcept {
    const std::int64_t step = y_[1];
    for (std::int64_t k = 0; k < n; ++k) y[k * step] = k;
    for (std::int64_t root = n / 2; root-- > 0;) sift(x, y, root, n);
    for (std::int64_t last = n - 1; last > 0; --last) {
      std::swap(y[0], y[last * step]);
      sift(x, y, 0, last);
    }
  }
  void sift(const T* x, std::int64_t* y, std::int64_t root, std::int64_t n) const noexcept {
    const std::int64_t step = y_[1];
    for (std::int64_t child = 2 * root + 1; child < n; root = child, child = 2 * root + 1) {
      if (child + 1 < n && before(x, y[child * step], y[(child + 1) * step])) ++child;
      if (!before(x, y[root * step], y[child * step])) return;
      std::swap(y[root * step], y[child * step]);
    }
  }
  bool before(const T* x, std::int64_t j, std::int64_t k) const noexcept {
    const T a = x[j * x_[1]], b = x[k * x_[1]];
    const bool a_nan = a != a, b_nan = b != b;
    if (a_nan || b_nan) return a_nan == b_nan ? j < k : b_nan;
    return a == b ? j < k : a < b;
  }

  Dim outer_, axis_, inner_;
  Place src_, dst_;
  std::int64_t x_[3], y_[3];
};

inline void ArgsortSpec::add_to(Checks& program) const {
  const std::vector<Dim> dims{outer, axis, inner};
  program.check(src, dims, false, "src of argsort"), program.check(dst, dims, true, "dst of argsort");
  program.check_distinct(dst, dims, "dst of argsort");
  program.require_dtype(src.buffer, dtype, "src of argsort");
  program.require_dtype(dst.buffer, DType::i64, "dst of argsort");
  with_type(dtype, [&](auto t) {
    program.machine().add(std::make_unique<ArgsortOf<decltype(t)>>(outer, axis, inner, src, dst));
  });
}

}  // namespace madaline::MADALINE_ISA
