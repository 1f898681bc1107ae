// The matmul instruction:  C[b, i, j] (+)= sum_p A[b, i, p] B[b, p, j],  then bias, relu, gate, and a chain on each
// panel of rows as it is finished.
//
// The bits of an element depend only on k (matmul.h), not on the block of C in which it is computed, so a large product
// can be split by columns or rows into as many pieces as there are threads.
#pragma once

#include <optional>

#include "kernels/elementwise.h"
#include "kernels/matmul.h"

namespace madaline::MADALINE_ISA {

struct ProductSpec {
  static constexpr const char* name = "matmul";
  DType dtype = DType::f32;
  std::vector<Dim> batch;
  Dim m, n, k;
  Operand A, B, C;  // strides (batch..., m, k), (batch..., k, n), (batch..., m, n)
  bool accumulate = false;
  bool has_bias = false;
  Operand bias;  // stride (n)
  bool relu = false;
  bool has_gate = false;
  Operand gate;  // strides (m, n), unit in n
  std::optional<ElementwiseSpec> epilogue{};

  template <class V> void fields(V& v) {
    v("dtype", dtype), v("batch", batch), v("m", m), v("n", n), v("k", k), v("A", A), v("B", B), v("C", C);
    v.optional("accumulate", accumulate), v.optional("bias", has_bias, bias), v.optional("relu", relu);
    v.optional("gate", has_gate, gate), v.optional("epilogue", epilogue);
  }
  void add_to(Checks& program) const;
};

template <class T> class ProductOf final : public Instruction {
 public:
  ProductOf(const ProductSpec& spec, std::unique_ptr<Elementwise> chain)
      : batch_(spec.batch),
        m_(spec.m),
        n_(spec.n),
        k_(spec.k),
        accumulate_(spec.accumulate),
        has_bias_(spec.has_bias),
        relu_(spec.relu),
        has_gate_(spec.has_gate),
        chain_(std::move(chain)) {
    const std::size_t b = spec.batch.size();
    const Operand* operands[] = {&spec.A, &spec.B, &spec.C};
    for (int i = 0; i < 3; ++i) {
      places_[i] = place(*operands[i]);
      for (std::size_t d = 0; d < b; ++d) steps_[i][d] = operands[i]->strides[d] * static_cast<std::int64_t>(sizeof(T));
    }
    a_m_ = spec.A.strides[b], a_k_ = spec.A.strides[b + 1];
    b_k_ = spec.B.strides[b], b_n_ = spec.B.strides[b + 1];
    c_m_ = spec.C.strides[b];
    if (has_bias_) bias_ = place(spec.bias), bias_stride_ = spec.bias.strides[0];
    if (has_gate_) gate_ = place(spec.gate), gate_stride_ = spec.gate.strides[0];
    // The workspace is bounded for any number of rows, so the size for very many rows is always sufficient.
    const auto most = [](Dim d) { return static_cast<std::size_t>(d.size(1 << 20)); };
    workspace_bytes_ = (matmul_workspace<T>(most(m_), most(n_), most(k_)) * sizeof(T) + 63) / 64 * 64;
  }

  void run(Frame& frame) const noexcept override {
    run_block(frame, {0, element_count(batch_, frame.rows)}, {0, m_.size(frame.rows)}, {0, n_.size(frame.rows)});
  }

  std::int64_t chunks(std::int64_t rows, int threads) const noexcept override {
    const std::int64_t batches = element_count(batch_, rows), m = m_.size(rows), n = n_.size(rows);
    const double work = 2.0 * static_cast<double>(batches) * static_cast<double>(m) * static_cast<double>(n) *
                        static_cast<double>(k_.size(rows));
    const auto worth = static_cast<std::int64_t>(work / 2e6);  // pieces of at least 20 us at 100 GFLOP/s
    const std::int64_t pieces = batches > 1 ? batches : by_columns(m, n) ? n / kColumnUnit : m / kRowUnit;
    // Twice as many pieces as threads; the small ones are done by the first free threads: see falling_range.
    const std::int64_t wanted = threads > 1 && worth >= 4 * threads ? 2 * threads : threads;
    // A piece should not take much longer than about ten milliseconds, since a run can only be stopped between pieces.
    const std::int64_t short_enough = worth / 1000;
    return std::max<std::int64_t>(1, std::min({worth, pieces, std::max(wanted, short_enough)}));
  }

  void run_chunk(Frame& frame, std::int64_t chunk, std::int64_t n_chunks) const noexcept override {
    Range batches{0, element_count(batch_, frame.rows)}, m{0, m_.size(frame.rows)}, n{0, n_.size(frame.rows)};
    const auto part = [&](Range& r, std::int64_t unit) {
      const Range units = falling_range((r.end + unit - 1) / unit, chunk, n_chunks);
      r = {units.begin * unit, std::min(r.end, units.end * unit)};
    };
    if (batches.end > 1) part(batches, 1);
    else if (by_columns(m.end, n.end)) part(n, kColumnUnit);
    else part(m, kRowUnit);
    run_block(frame, batches, m, n);
  }

  std::size_t scratch_bytes() const noexcept override {
    return workspace_bytes_ + (chain_ ? chain_->scratch_bytes() : 0);
  }

 private:
  static constexpr std::int64_t kColumnUnit = 32, kRowUnit = 24;  // multiples of the register tile

  static Place place(const Operand& o) {
    constexpr std::int64_t item = sizeof(T);
    return {o.buffer, o.offset * item, o.row_advance * item};
  }
  // Pieces of columns each pack their part of B; each piece of rows would pack all of it.
  bool by_columns(std::int64_t m, std::int64_t n) const { return n >= m && (!chain_ || chain_->takes_columns(n_)); }

  void run_block(Frame& frame, Range batches, Range m, Range n) const noexcept {
    if (batches.begin >= batches.end) return;
    Odometer<3> at;
    at.n_dims = static_cast<int>(batch_.size());
    for (int d = 0; d < at.n_dims; ++d) at.sizes[d] = batch_[d].size(frame.rows);
    for (int i = 0; i < 3; ++i) at.at[i] = frame.at(places_[i]);
    for (std::int64_t b = 0; b < batches.begin; ++b) at.next(steps_);

    struct Context {
      const Elementwise* chain;
      Frame* frame;
      std::int64_t first_row;
      Range columns;
      bool whole_rows;
    } context{chain_.get(), &frame, m.begin, n, n.begin == 0 && n.end == n_.size(frame.rows)};
    Epilogue<T> epilogue;
    if (has_bias_) {
      epilogue.bias = reinterpret_cast<const T*>(frame.at(bias_)) + n.begin * bias_stride_;
      epilogue.bias_stride = bias_stride_;
    }
    epilogue.relu = relu_;
    if (has_gate_) {
      epilogue.gate = reinterpret_cast<const T*>(frame.at(gate_)) + m.begin * gate_stride_ + n.begin;
      epilogue.gate_stride = gate_stride_;
    }
    if (chain_) {
      epilogue.context = &context;
      epilogue.after_panel = [](void* p, std::size_t first_row, std::size_t n_rows) {
        const Context& c = *static_cast<Context*>(p);
        const std::int64_t begin = c.first_row + static_cast<std::int64_t>(first_row);
        const Range rows{begin, begin + static_cast<std::int64_t>(n_rows)};
        if (c.whole_rows) c.chain->run_panel(*c.frame, rows.begin, rows.end);
        else c.chain->run_block(*c.frame, rows, c.columns);
      };
    }
    T* workspace = reinterpret_cast<T*>(frame.scratch);
    frame.scratch += workspace_bytes_;  // the chain's part
    const bool add = accumulate_ && !frame.first_tile;
    for (std::int64_t b = batches.begin; b < batches.end; ++b, at.next(steps_)) {
      matmul(static_cast<std::size_t>(m.end - m.begin), static_cast<std::size_t>(n.end - n.begin),
             static_cast<std::size_t>(k_.size(frame.rows)), reinterpret_cast<const T*>(at.at[0]) + m.begin * a_m_, a_m_,
             a_k_, reinterpret_cast<const T*>(at.at[1]) + n.begin * b_n_, b_k_, b_n_,
             reinterpret_cast<T*>(at.at[2]) + m.begin * c_m_ + n.begin, c_m_, add, epilogue, workspace);
    }
    frame.scratch -= workspace_bytes_;
  }

  std::vector<Dim> batch_;
  Dim m_, n_, k_;
  Place places_[3], bias_, gate_;
  std::int64_t steps_[3][kMaxDims] = {};
  std::int64_t a_m_, a_k_, b_k_, b_n_, c_m_, bias_stride_ = 0, gate_stride_ = 0;
  bool accumulate_, has_bias_, relu_, has_gate_;
  std::unique_ptr<Elementwise> chain_;
  std::size_t workspace_bytes_ = 0;
};

inline void ProductSpec::add_to(Checks& program) const {
  const std::vector<Dim> a = joined(batch, {m, k}), b = joined(batch, {k, n}), c = joined(batch, {m, n});
  program.check(A, a, false, "A of matmul"), program.check(B, b, false, "B of matmul"),
      program.check(C, c, true, "C of matmul");
  program.require_dtype(A.buffer, dtype, "A of matmul"), program.require_dtype(B.buffer, dtype, "B of matmul"),
      program.require_dtype(C.buffer, dtype, "C of matmul");
  if (dtype == DType::boolean) invalid("matmul does not exist for bool.");
  const bool one_column = !n.is_rows && n.coefficient <= 1;
  if (C.strides.back() != 1 && !one_column && element_count(c, 1) > 0)
    invalid("C of matmul must have unit stride in n.");
  if (C.strides[batch.size()] < 0) invalid("C of matmul must not have a negative stride in m.");
  program.check_accumulate(accumulate, C, "matmul");
  if (accumulate && (has_bias || relu || has_gate || epilogue))
    invalid("A matmul that accumulates over the rows takes no bias, relu, gate or epilogue.");
  if (has_bias) {
    program.check(bias, {n}, false, "The bias of matmul");
    program.require_dtype(bias.buffer, dtype, "The bias of matmul");
    if (bias.strides[0] != 0 && bias.strides[0] != 1) invalid("The bias of matmul must have stride 0 or 1.");
  }
  if (has_gate) {
    if (!batch.empty() || !is_float(dtype)) invalid("A gate needs a matmul of floats without batch dims.");
    program.check(gate, {m, n}, false, "The gate of matmul");
    program.require_dtype(gate.buffer, dtype, "The gate of matmul");
    if (gate.strides[1] != 1 && !one_column) invalid("The gate of matmul must have unit stride in n.");
  }
  std::unique_ptr<Elementwise> chain;
  if (epilogue) {
    if (!batch.empty()) invalid("A matmul with batch dims takes no epilogue.");
    const bool matches = !epilogue->dims.empty() && epilogue->dims[0].coefficient == m.coefficient &&
                         epilogue->dims[0].is_rows == m.is_rows;
    if (!matches) invalid("The first dim of a matmul's epilogue must be m.");
    chain = make_elementwise(program, *epilogue);
  }
  if (dtype == DType::f32) program.machine().add(std::make_unique<ProductOf<float>>(*this, std::move(chain)));
  else if (dtype == DType::f64) program.machine().add(std::make_unique<ProductOf<double>>(*this, std::move(chain)));
  else program.machine().add(std::make_unique<ProductOf<std::int64_t>>(*this, std::move(chain)));
}

}  // namespace madaline::MADALINE_ISA
