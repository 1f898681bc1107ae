// Elementwise chains:  for every index of dims, run all ops on that element.
//
// The index space is walked in blocks that fit L1; each op is a SIMD loop over a block. A block is a piece of one row
// of the innermost dim, or, if rows are short, several complete rows. How an operand gets into a block is decided when
// the chain is added:
//   direct   contiguous and of the chain's dtype: ops work in place
//   scalar   one value for the whole block
//   pattern  the same short row for every row (a bias): written out once per plane
//   moved    anything else: gathered (or scattered, for an output) and converted through a scratch block
// Outputs may not overlap inputs.
#pragma once

#include "kernels/check.h"
#include "kernels/elementwise_ops.h"
#include "kernels/strided.h"

namespace madaline::MADALINE_ISA {

struct ElementwiseSpec {
  static constexpr const char* name = "elementwise";
  DType dtype = DType::f32;
  std::vector<Dim> dims;
  std::vector<Operand> operands;
  std::vector<double> constants;
  int n_scratch = 0;
  std::vector<std::vector<int>> ops;  // opcode, dst, arguments; unused arguments are -1

  template <class V> void fields(V& v) {
    v("dtype", dtype), v("dims", dims), v("operands", operands), v("constants", constants);
    v("n_scratch", n_scratch), v("ops", ops);
  }
  void add_to(Checks& program) const;
};

class Elementwise final : public Instruction {
 public:
  Elementwise(ElementwiseSpec spec, const std::vector<Buffer>& buffers);

  void run(Frame& frame) const noexcept override { run_range(frame, 0, dims_[0].size(frame.rows)); }
  std::int64_t chunks(std::int64_t rows, int threads) const noexcept override {
    const std::int64_t n = element_count(dims_, rows);
    return std::max<std::int64_t>(1, std::min(pieces_of(n, threads), dims_[0].size(rows)));
  }
  void run_chunk(Frame& frame, std::int64_t chunk, std::int64_t n_chunks) const noexcept override {
    const Range r = chunk_range(dims_[0].size(frame.rows), chunk, n_chunks);
    run_range(frame, r.begin, r.end);
  }
  // Rows [begin, end) of the first dim as given: the panel that a product has just finished.
  void run_panel(Frame& frame, std::int64_t begin, std::int64_t end) const noexcept {
    if (panel_scale_ == 0) run(frame);
    else run_range(frame, begin * panel_scale_, end * panel_scale_);
  }
  // Whether run_block supports a part of n columns.
  bool takes_columns(Dim n) const noexcept {
    const Dim inner = dims_.back();
    if (copy_ != nullptr || n.is_rows) return false;
    if (dims_.size() == 1) return panel_scale_ == n.coefficient;  // rows lie behind one another
    return dims_.size() == 2 && panel_scale_ == 1 && group_ == 0 && !inner.is_rows &&
           inner.coefficient == n.coefficient;
  }
  void run_block(Frame& frame, Range rows, Range columns) const noexcept {
    if (dims_.size() == 2) return run_range(frame, rows.begin, rows.end, columns.begin, columns.end);
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      run_range(frame, i * panel_scale_ + columns.begin, i * panel_scale_ + columns.end);
  }
  std::size_t scratch_bytes() const noexcept override { return scratch_bytes_; }

 private:
  static constexpr std::int64_t kBlockBytes =
      2048;  // a call costs 2 ns, a block of 512 floats 26 ns an op; ten slots fit L1
  static constexpr std::int64_t kBlockStride = kBlockBytes + 128;  // so that blocks do not share their low address bits
  static constexpr int kMaxOperands = 64;
  static constexpr int kMaxSlots = 512;

  struct Access {  // how an operand is reached; strides in elements (m, n) and bytes (all dims)
    int slot;
    std::int64_t m, n;
    std::int64_t step_m, step_n;
    CopyLoop loop = nullptr;  // null: same dtype and used in place
  };
  struct Fixed {
    int slot;
    std::int64_t offset;
  };

  // Ranges of the first dim, and of the last one if only a part of it is run.
  void run_range(Frame& frame, std::int64_t begin, std::int64_t end, std::int64_t inner_begin = 0,
                 std::int64_t inner_end = -1) const noexcept;
  void run_plane(void** slots, char* const* base, std::int64_t m, std::int64_t n) const noexcept;
  void run_rows(void** slots, char* const* base, std::int64_t m, std::int64_t n) const noexcept;
  void run_groups(void** slots, char* const* base, std::int64_t m, std::int64_t n) const noexcept;
  void run_ops(void* const* slots, std::size_t n) const noexcept {
    for (const Op& op : block_ops_) op.loop(slots, op, n);
  }
  void set_scalar(void** slots, const Access& a, char* source) const noexcept {
    if (a.loop == nullptr) slots[a.slot] = source;
    else a.loop(source, 0, 0, slots[a.slot], 0, 0, 1, 1);
  }
  void compile(const ElementwiseSpec& spec, const std::vector<Buffer>& buffers);
  void compile_ops(const ElementwiseSpec& spec, const std::vector<bool>& is_output, bool single);

  DType dtype_;
  std::int64_t item_, block_;  // bytes of an element, elements of a block
  std::vector<Dim> dims_;
  std::vector<Place> places_;
  std::vector<std::vector<std::int64_t>> steps_;  // [operand][dim] in bytes
  std::vector<Access> uniform_, scalar_, pattern_, direct_, load_, store_;
  std::vector<double> constants_;  // cells of 8 bytes that hold values of dtype_
  int first_constant_ = 0;
  std::vector<Fixed> temporaries_;  // slot and where it lies in the scratch memory
  std::vector<Op> uniform_ops_, scalar_ops_, block_ops_;
  std::int64_t group_ = 0;        // rows of a block; 0: a block lies within one row
  std::int64_t panel_scale_ = 0;  // what one step of the first dim as given is in dims_[0]; 0: that dim had size 1
  bool flat_ = false;             // one dim, everything direct or uniform
  CopyLoop copy_ = nullptr;       // the whole chain is one copy from operand copy_from_ to copy_to_
  int copy_from_ = 0, copy_to_ = 0;
  bool copy_swapped_ = false;
  std::int64_t copy_strides_[4] = {};
  std::size_t scratch_bytes_ = 0;
};

inline void Elementwise::run_range(Frame& frame, std::int64_t begin, std::int64_t end, std::int64_t inner_begin,
                                   std::int64_t inner_end) const noexcept {
  const int n_dims = static_cast<int>(dims_.size());
  std::int64_t sizes[kMaxDims], total = 1;
  for (int d = 0; d < n_dims; ++d) sizes[d] = d == 0 ? end - begin : dims_[d].size(frame.rows);
  if (inner_end >= 0) sizes[n_dims - 1] = inner_end - inner_begin;
  for (int d = 0; d < n_dims; ++d) total *= sizes[d];
  if (total <= 0) return;

  char* base[kMaxOperands];
  for (std::size_t i = 0; i < places_.size(); ++i)
    base[i] = frame.at(places_[i]) + begin * steps_[i][0] + inner_begin * steps_[i][n_dims - 1];

  void* slots[kMaxSlots];
  for (std::size_t i = 0; i < constants_.size(); ++i) slots[first_constant_ + i] = const_cast<double*>(&constants_[i]);
  for (const Fixed& t : temporaries_) slots[t.slot] = frame.scratch + t.offset;
  for (const Access& a : uniform_) set_scalar(slots, a, base[a.slot]);
  for (const Access& a : direct_) slots[a.slot] = base[a.slot];
  for (const Op& op : uniform_ops_) op.loop(slots, op, 1);

  if (flat_) {
    for (std::int64_t n = sizes[0];;) {
      const std::int64_t width = std::min(n, block_);
      run_ops(slots, static_cast<std::size_t>(width));
      if ((n -= width) == 0) return;
      for (const Access& a : direct_) slots[a.slot] = static_cast<char*>(slots[a.slot]) + block_ * item_;
    }
  }

  const std::int64_t m = n_dims >= 2 ? sizes[n_dims - 2] : 1, n = sizes[n_dims - 1];
  std::int64_t index[kMaxDims] = {};
  for (;;) {
    run_plane(slots, base, m, n);
    int d = n_dims - 3;
    for (; d >= 0; --d) {
      const bool more = ++index[d] < sizes[d];
      const std::int64_t count = more ? 1 : 1 - sizes[d];
      for (std::size_t i = 0; i < places_.size(); ++i) base[i] += count * steps_[i][d];
      if (more) break;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

inline void Elementwise::run_plane(void** slots, char* const* base, std::int64_t m, std::int64_t n) const noexcept {
  if (copy_ != nullptr) {
    const std::int64_t* s = copy_strides_;
    if (copy_swapped_) copy_(base[copy_from_], s[1], s[0], base[copy_to_], s[3], s[2], n, m);
    else copy_(base[copy_from_], s[0], s[1], base[copy_to_], s[2], s[3], m, n);
  } else if (group_ > 0) {
    run_groups(slots, base, m, n);
  } else {
    run_rows(slots, base, m, n);
  }
}

// Blocks within one row.
inline void Elementwise::run_rows(void** slots, char* const* base, std::int64_t m, std::int64_t n) const noexcept {
  for (std::int64_t i = 0; i < m; ++i) {
    for (const Access& a : scalar_) set_scalar(slots, a, base[a.slot] + i * a.step_m);
    for (const Op& op : scalar_ops_) op.loop(slots, op, 1);
    for (std::int64_t j = 0; j < n; j += block_) {
      const std::int64_t width = std::min(block_, n - j);
      for (const Access& a : direct_) slots[a.slot] = base[a.slot] + i * a.step_m + j * a.step_n;
      for (const Access& a : load_) {
        a.loop(base[a.slot] + i * a.step_m + j * a.step_n, 0, a.n, slots[a.slot], 0, 1, 1, width);
      }
      run_ops(slots, static_cast<std::size_t>(width));
      for (const Access& a : store_) {
        a.loop(slots[a.slot], 0, 1, base[a.slot] + i * a.step_m + j * a.step_n, 0, a.n, 1, width);
      }
    }
  }
}

// Blocks of several rows.
inline void Elementwise::run_groups(void** slots, char* const* base, std::int64_t m, std::int64_t n) const noexcept {
  for (const Access& a : scalar_) set_scalar(slots, a, base[a.slot]);
  for (const Op& op : scalar_ops_) op.loop(slots, op, 1);
  for (const Access& a : pattern_) {
    a.loop(base[a.slot], 0, a.n, slots[a.slot], 0, 1, 1, n);
    char* row = static_cast<char*>(slots[a.slot]);
    const std::int64_t all = std::min(m, group_) * n;
    for (std::int64_t done = n; done < all; done *= 2) {
      std::memcpy(row + done * item_, row, static_cast<std::size_t>(std::min(done, all - done) * item_));
    }
  }
  for (std::int64_t i = 0; i < m; i += group_) {
    const std::int64_t rows = std::min(group_, m - i);
    for (const Access& a : direct_) slots[a.slot] = base[a.slot] + i * a.step_m;
    for (const Access& a : load_) a.loop(base[a.slot] + i * a.step_m, a.m, a.n, slots[a.slot], n, 1, rows, n);
    run_ops(slots, static_cast<std::size_t>(rows * n));
    for (const Access& a : store_) a.loop(slots[a.slot], n, 1, base[a.slot] + i * a.step_m, a.m, a.n, rows, n);
  }
}

inline std::unique_ptr<Elementwise> make_elementwise(Checks& program, const ElementwiseSpec& spec) {
  program.current_stage();
  const int n = static_cast<int>(spec.operands.size());
  std::vector<bool> written(n, false);
  for (const auto& op : spec.ops) {
    if (op.size() > 1 && op[1] >= 0 && op[1] < n) written[op[1]] = true;
  }
  for (int i = 0; i < n; ++i)
    program.check(spec.operands[i], spec.dims, written[i],
                  "Operand " + std::to_string(i) + " of the elementwise chain");
  return std::make_unique<Elementwise>(spec, program.machine().buffers());
}

inline void ElementwiseSpec::add_to(Checks& program) const { program.machine().add(make_elementwise(program, *this)); }

}  // namespace madaline::MADALINE_ISA

#include "kernels/elementwise_compile.h"
