// Running sums:  dst[o, a, i] = src[o, 0, i] + ... + src[o, a, i],  or from the other end if reverse. dst is not src.
#pragma once

#include "kernels/check.h"

namespace madaline::MADALINE_ISA {

struct CumsumSpec {
  static constexpr const char* name = "cumsum";
  DType dtype = DType::f32;
  Dim outer, axis, inner;
  Operand src, dst;  // strides (outer, axis, inner)
  bool reverse = false;

  template <class V> void fields(V& v) {
    v("dtype", dtype), v("outer", outer), v("axis", axis), v("inner", inner), v("src", src), v("dst", dst);
    v.optional("reverse", reverse);
  }
  void add_to(Checks& program) const;
};

template <class T> class CumsumOf final : public Instruction {
 public:
  CumsumOf(Dim outer, Dim axis, Dim inner, const Operand& src, const Operand& dst, bool reverse)
      : outer_(outer), axis_(axis), inner_(inner), reverse_(reverse) {
    constexpr std::int64_t item = sizeof(T);
    src_ = {src.buffer, src.offset * item, src.row_advance * item};
    dst_ = {dst.buffer, dst.offset * item, dst.row_advance * item};
    std::copy_n(src.strides.begin(), 3, x_), std::copy_n(dst.strides.begin(), 3, y_);
  }

  void run(Frame& frame) const noexcept override {
    const std::int64_t n = axis_.size(frame.rows), width = inner_.size(frame.rows), outer = outer_.size(frame.rows);
    for (std::int64_t o = 0; o < outer && n > 0; ++o) {
      const T* x = reinterpret_cast<const T*>(frame.at(src_)) + o * x_[0] + (reverse_ ? (n - 1) * x_[1] : 0);
      T* y = reinterpret_cast<T*>(frame.at(dst_)) + o * y_[0] + (reverse_ ? (n - 1) * y_[1] : 0);
      const std::int64_t x_step = reverse_ ? -x_[1] : x_[1], y_step = reverse_ ? -y_[1] : y_[1];
      for (std::int64_t i = 0; i < width; ++i) y[i * y_[2]] = x[i * x_[2]];
      for (std::int64_t a = 1; a < n; ++a) {
        const T* before = y;
        x += x_step, y += y_step;
        for (std::int64_t i = 0; i < width; ++i) y[i * y_[2]] = plus(before[i * y_[2]], x[i * x_[2]]);
      }
    }
  }

 private:
  static T plus(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else return a + b;
  }
  Dim outer_, axis_, inner_;
  Place src_, dst_;
  std::int64_t x_[3], y_[3];
  bool reverse_;
};

inline void CumsumSpec::add_to(Checks& program) const {
  const std::vector<Dim> dims{outer, axis, inner};
  program.check(src, dims, false, "src of cumsum"), program.check(dst, dims, true, "dst of cumsum");
  program.check_distinct(dst, dims, "dst of cumsum");
  program.require_dtype(src.buffer, dtype, "src of cumsum"), program.require_dtype(dst.buffer, dtype, "dst of cumsum");
  if (dtype == DType::boolean) invalid("cumsum does not exist for bool.");
  with_type(dtype, [&](auto t) {
    program.machine().add(std::make_unique<CumsumOf<decltype(t)>>(outer, axis, inner, src, dst, reverse));
  });
}

}  // namespace madaline::MADALINE_ISA
