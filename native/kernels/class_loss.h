// The class_loss instruction: softmax cross-entropy and its derivative, row by row.
// With  s = z - max z,  t = sum_j exp(s_j):
//
//   dst[i, j] = exp(s_j) / t * g_i,  minus g_i for the row's class k_i;   dst[i, classes] = log t - s_k
//
// A vector holds one logit of several rows, so the result of a row does not depend on its neighbours. Sums over classes
// are sequential. Negative class indices count from the end.
#pragma once

#include "kernels/check.h"
#include "kernels/vector_math.h"

namespace madaline::MADALINE_ISA {

inline constexpr std::int64_t kMostClasses = 64;

struct ClassLossSpec {
  static constexpr const char* name = "class_loss";
  DType dtype = DType::f32;
  Dim n;
  std::int64_t classes = 0;
  Operand logits, indices, factor, dst;  // strides (n, classes), (n), (n), (n, classes + 1)

  template <class V> void fields(V& v) {
    v("dtype", dtype), v("n", n), v("classes", classes), v("logits", logits), v("indices", indices);
    v("factor", factor), v("dst", dst);
  }
  void add_to(Checks& program) const;
};

template <class T> class ClassLossOf final : public Instruction {
 public:
  explicit ClassLossOf(const ClassLossSpec& s)
      : n_(s.n),
        classes_(s.classes),
        logits_(place(s.logits, sizeof(T))),
        indices_(place(s.indices, sizeof(std::int64_t))),
        factor_(place(s.factor, sizeof(T))),
        dst_(place(s.dst, sizeof(T))),
        z_row_(s.logits.strides[0]),
        z_col_(s.logits.strides[1]),
        index_row_(s.indices.strides[0]),
        factor_row_(s.factor.strides[0]),
        dst_row_(s.dst.strides[0]),
        dst_col_(s.dst.strides[1]) {}

  void run(Frame& frame) const noexcept override { run_rows(frame, {0, n_.size(frame.rows)}); }
  std::int64_t chunks(std::int64_t rows, int threads) const noexcept override {
    const std::int64_t n = n_.size(rows);
    return std::max<std::int64_t>(1, std::min(n, pieces_of(16 * n * classes_, threads)));  // 16: an exp and a log
  }
  void run_chunk(Frame& frame, std::int64_t chunk, std::int64_t n_chunks) const noexcept override {
    run_rows(frame, chunk_range(n_.size(frame.rows), chunk, n_chunks));
  }
  std::string failure(std::int64_t value) const override {
    return "class_loss: index " + std::to_string(value) + " is out of range for an axis of size " +
           std::to_string(classes_) + ".";
  }

 private:
  static constexpr int W = Vec<T>::width;

  static Place place(const Operand& o, std::int64_t item) { return {o.buffer, o.offset * item, o.row_advance * item}; }

  void run_rows(Frame& frame, Range rows) const noexcept {
    const T* z = reinterpret_cast<const T*>(frame.at(logits_));
    const auto* indices = reinterpret_cast<const std::int64_t*>(frame.at(indices_));
    const T* factor = reinterpret_cast<const T*>(frame.at(factor_));
    T* dst = reinterpret_cast<T*>(frame.at(dst_));
    alignas(64) T columns[kMostClasses * W], factors[W], losses[W];
    std::int64_t own[W];
    for (std::int64_t i = rows.begin; i < rows.end; i += W) {
      const int count = static_cast<int>(std::min<std::int64_t>(W, rows.end - i));
      for (int l = 0; l < W; ++l) {
        const std::int64_t row = i + std::min(l, count - 1);  // lanes without a row repeat the last one
        for (std::int64_t j = 0; j < classes_; ++j) columns[j * W + l] = z[row * z_row_ + j * z_col_];
        factors[l] = factor[row * factor_row_];
        const std::int64_t index = indices[row * index_row_];
        own[l] = index < 0 ? index + classes_ : index;
        if (static_cast<std::uint64_t>(own[l]) >= static_cast<std::uint64_t>(classes_)) [[unlikely]] {
          frame.failed = true;
          frame.failure_value = index;
          return;
        }
      }
      Vec<T> largest = Vec<T>::load(columns);
      for (std::int64_t j = 1; j < classes_; ++j) largest = larger(largest, Vec<T>::load(columns + j * W));
      Vec<T> total(T(0));
      for (int l = 0; l < W; ++l) losses[l] = columns[own[l] * W + l];
      const Vec<T> chosen = Vec<T>::load(losses) - largest;
      for (std::int64_t j = 0; j < classes_; ++j) {
        const Vec<T> power = exp(Vec<T>::load(columns + j * W) - largest);
        total = total + power;
        power.store(columns + j * W);
      }
      (log(total) - chosen).store(losses);
      const Vec<T> g = Vec<T>::load(factors);
      for (std::int64_t j = 0; j < classes_; ++j) (Vec<T>::load(columns + j * W) / total * g).store(columns + j * W);
      for (int l = 0; l < count; ++l) {
        columns[own[l] * W + l] -= factors[l];
        T* out = dst + (i + l) * dst_row_;
        for (std::int64_t j = 0; j < classes_; ++j) out[j * dst_col_] = columns[j * W + l];
        out[classes_ * dst_col_] = losses[l];
      }
    }
  }

  Dim n_;
  std::int64_t classes_;
  Place logits_, indices_, factor_, dst_;
  std::int64_t z_row_, z_col_, index_row_, factor_row_, dst_row_, dst_col_;
};

inline void ClassLossSpec::add_to(Checks& program) const {
  if (!is_float(dtype)) invalid("class_loss exists for floats only.");
  if (classes < 1 || classes > kMostClasses)
    invalid("class_loss takes 1 to " + std::to_string(kMostClasses) + " classes.");
  const std::vector<Dim> in{n, {classes, false}}, out{n, {classes + 1, false}};
  program.check(logits, in, false, "logits of class_loss"), program.check(indices, {n}, false, "indices of class_loss");
  program.check(factor, {n}, false, "factor of class_loss"), program.check(dst, out, true, "dst of class_loss");
  program.check_distinct(dst, out, "dst of class_loss");
  program.require_dtype(logits.buffer, dtype, "logits of class_loss");
  program.require_dtype(indices.buffer, DType::i64, "indices of class_loss");
  program.require_dtype(factor.buffer, dtype, "factor of class_loss");
  program.require_dtype(dst.buffer, dtype, "dst of class_loss");
  if (dtype == DType::f32) program.machine().add(std::make_unique<ClassLossOf<float>>(*this));
  else program.machine().add(std::make_unique<ClassLossOf<double>>(*this));
}

}  // namespace madaline::MADALINE_ISA
