// Compiles the description of an elementwise chain for elementwise.h: joins dims, decides how each operand is accessed,
// hoists ops on scalars out of the block loop, and assigns temporaries to as few scratch blocks as possible.
#pragma once

#include "kernels/elementwise.h"

namespace madaline::MADALINE_ISA {

inline Elementwise::Elementwise(ElementwiseSpec spec, const std::vector<Buffer>& buffers) : dtype_(spec.dtype) {
  const int n_operands = static_cast<int>(spec.operands.size());
  if (n_operands > kMaxOperands)
    invalid("An elementwise chain has at most " + std::to_string(kMaxOperands) + " operands.");
  if (spec.ops.empty()) invalid("An elementwise chain needs at least one op.");
  if (spec.n_scratch < 0) invalid("n_scratch of an elementwise chain is negative.");
  if (n_operands + spec.constants.size() + 2 * spec.ops.size() > kMaxSlots) {
    invalid("An elementwise chain has at most " + std::to_string(kMaxSlots) +
            " slots (operands, constants, two for each op).");
  }
  item_ = size_of(dtype_);
  block_ = kBlockBytes / item_;
  compile(spec, buffers);
}

inline void Elementwise::compile(const ElementwiseSpec& given, const std::vector<Buffer>& buffers) {
  ElementwiseSpec spec = given;
  const int n_operands = static_cast<int>(spec.operands.size());
  std::vector<bool> is_output(n_operands, false);
  for (const auto& op : spec.ops) {
    if (op.size() >= 2 && op[1] >= 0 && op[1] < n_operands) is_output[op[1]] = true;
  }
  for (int i = 0; i < n_operands && element_count(spec.dims, 1) > 0; ++i) {
    for (std::size_t d = 0; is_output[i] && d < spec.dims.size(); ++d) {
      if (spec.operands[i].strides[d] == 0 && (spec.dims[d].is_rows || spec.dims[d].coefficient > 1)) {
        invalid("Operand " + std::to_string(i) + " is written and has stride 0 in dim " + std::to_string(d) + ".");
      }
    }
  }

  const Dim leading = spec.dims.empty() ? Dim{} : spec.dims[0];
  std::vector<std::vector<std::int64_t>*> strides;
  for (Operand& o : spec.operands) strides.push_back(&o.strides);
  collapse(spec.dims, strides);
  const bool single = spec.dims.empty();
  if (single) {
    spec.dims.push_back({1, false});
    for (int i = 0; i < n_operands; ++i) spec.operands[i].strides.assign(1, is_output[i] ? 1 : 0);
  }
  dims_ = spec.dims;
  const bool leading_kept = leading.is_rows || leading.coefficient > 1;
  panel_scale_ = leading_kept ? dims_[0].coefficient / std::max<std::int64_t>(1, leading.coefficient) : 0;

  const int n_dims = static_cast<int>(dims_.size());
  const Dim inner = dims_[n_dims - 1];
  if (n_dims >= 2 && !inner.is_rows && inner.coefficient <= block_ / 2) {
    group_ = block_ / std::max<std::int64_t>(1, inner.coefficient);
  }

  // Scratch memory: cells of 8 bytes for scalars, followed by blocks.
  std::vector<int> cells, blocks;
  for (int i = 0; i < n_operands; ++i) {
    const Operand& o = spec.operands[i];
    const DType dtype = buffers[o.buffer].dtype;
    const std::int64_t bytes = size_of(dtype);
    places_.push_back({o.buffer, o.offset * bytes, o.row_advance * bytes});
    std::vector<std::int64_t> steps;
    for (std::int64_t s : o.strides) steps.push_back(s * bytes);
    steps_.push_back(steps);

    Access a{i, n_dims >= 2 ? o.strides[n_dims - 2] : 0, o.strides[n_dims - 1], 0, 0, nullptr};
    a.step_m = a.m * bytes, a.step_n = a.n * bytes;
    const bool same = dtype == dtype_;
    const bool contiguous = a.n == 1 && (group_ == 0 || a.m == inner.coefficient);
    if (is_output[i]) {
      if (same && contiguous) {
        direct_.push_back(a);
      } else {
        a.loop = copy_loop(dtype, dtype_);
        store_.push_back(a);
        blocks.push_back(i);
      }
      continue;
    }
    const bool uniform = std::all_of(o.strides.begin(), o.strides.end(), [](std::int64_t s) { return s == 0; });
    const bool scalar = group_ > 0 ? a.m == 0 && a.n == 0 : a.n == 0;
    if (uniform || scalar) {
      if (!same) a.loop = copy_loop(dtype_, dtype), cells.push_back(i);
      (uniform ? uniform_ : scalar_).push_back(a);
    } else if (same && contiguous) {
      direct_.push_back(a);
    } else {
      a.loop = copy_loop(dtype_, dtype);
      (group_ > 0 && a.m == 0 ? pattern_ : load_).push_back(a);
      blocks.push_back(i);
    }
  }
  flat_ = n_dims == 1 && scalar_.empty() && load_.empty() && store_.empty();

  first_constant_ = n_operands;
  for (double value : spec.constants) {
    double cell = 0;
    copy_loop(dtype_, DType::f64)(&value, 0, 0, &cell, 0, 0, 1, 1);
    constants_.push_back(cell);
  }

  for (int i : cells) temporaries_.push_back({i, -1});
  for (int i : blocks) temporaries_.push_back({i, static_cast<std::int64_t>(temporaries_.size() - cells.size())});
  compile_ops(spec, is_output, single);

  // A chain that is one copy needs no blocks.
  const auto& op = spec.ops[0];
  if (spec.ops.size() == 1 && static_cast<Opcode>(op[0]) == Opcode::copy_ && op[2] < n_operands && op[1] < n_operands) {
    const Operand &src = spec.operands[op[2]], &dst = spec.operands[op[1]];
    const DType from = buffers[src.buffer].dtype, to = buffers[dst.buffer].dtype;
    if (from == dtype_ || to == dtype_) {
      copy_ = copy_loop(to, from);
      copy_from_ = op[2], copy_to_ = op[1];
      const Operand* sides[] = {&src, &dst};
      for (int k = 0; k < 2; ++k) {
        copy_strides_[2 * k] = n_dims >= 2 ? sides[k]->strides[n_dims - 2] : 0;
        copy_strides_[2 * k + 1] = sides[k]->strides[n_dims - 1];
      }
      copy_swapped_ = n_dims >= 2 && copy_strides_[3] != 1 && copy_strides_[2] == 1;
      flat_ = false;
      uniform_.clear(), direct_.clear(), uniform_ops_.clear(), temporaries_.clear();
    }
  }
}

inline void Elementwise::compile_ops(const ElementwiseSpec& spec, const std::vector<bool>& is_output, bool single) {
  const int n_operands = static_cast<int>(spec.operands.size()), n_constants = static_cast<int>(spec.constants.size());
  const int n_given = n_operands + n_constants + spec.n_scratch;
  enum Kind { uniform, scalar, vector };
  std::vector<Kind> kinds(n_operands, vector);  // of every slot; temporaries are appended
  for (const Access& a : uniform_) kinds[a.slot] = uniform;
  for (const Access& a : scalar_) kinds[a.slot] = scalar;
  kinds.resize(n_operands + n_constants, uniform);

  // Each write to a scratch register makes a new temporary, so that hoisting an op cannot disturb a reused register.
  std::vector<int> current(n_given, -1);
  for (int i = 0; i < n_operands + n_constants; ++i) current[i] = i;
  for (int i = 0; i < n_operands; ++i) current[i] = is_output[i] ? -1 : i;

  const auto where = [&](std::size_t k) { return "Op " + std::to_string(k) + " of the elementwise chain"; };
  for (std::size_t k = 0; k < spec.ops.size(); ++k) {
    const auto& given = spec.ops[k];
    if (given.size() < 2 || given[0] < 0 || given[0] >= kOpcodeCount) invalid(where(k) + " has an unknown opcode.");
    const OpcodeInfo& info = kOpcodes[given[0]];
    const auto opcode = static_cast<Opcode>(given[0]);
    const std::string name = where(k) + ", " + info.name + ",";
    if (given.size() < 2u + info.n_args) invalid(name + " needs " + std::to_string(info.n_args) + " arguments.");
    for (std::size_t j = 2 + info.n_args; j < given.size(); ++j) {
      if (given[j] != -1)
        invalid(name + " takes " + std::to_string(info.n_args) + " arguments; the others must be -1.");
    }
    Op op;
    Kind kind = uniform;
    unsigned scalars = 0;
    for (int j = 0; j < info.n_args; ++j) {
      const int slot = given[2 + j];
      if (slot < 0 || slot >= n_given)
        invalid(name + " reads slot " + std::to_string(slot) + ", which does not exist.");
      if (current[slot] < 0) invalid(name + " reads slot " + std::to_string(slot) + " before it is written.");
      op.args[j] = static_cast<std::int16_t>(current[slot]);
      kind = std::max(kind, kinds[op.args[j]]);
      if (kinds[op.args[j]] != vector) scalars |= 1u << j;
    }
    op.loop = block_loop(opcode, dtype_, scalars);
    if (op.loop == nullptr) {
      if (block_loop(opcode, dtype_, (1u << info.n_args) - 1) == nullptr) {
        invalid(name + " does not exist for " + kDTypeNames[static_cast<int>(dtype_)] + ".");
      }
      invalid(name + " needs its last " + std::to_string(info.n_scalars) +
              " arguments to be scalars and the others not.");
    }

    const int dst = given[1];
    if (dst < 0 || dst >= n_given) invalid(name + " writes slot " + std::to_string(dst) + ", which does not exist.");
    if (dst >= n_operands && dst < n_operands + n_constants) invalid(name + " writes a constant.");
    const bool to_output = dst < n_operands;
    if (to_output && current[dst] >= 0) invalid(name + " writes operand " + std::to_string(dst) + " a second time.");

    const bool spread = to_output && kind != vector && !single;  // a scalar into an output: fill
    if (!to_output || (spread && opcode != Opcode::copy_)) {
      op.dst = static_cast<std::int16_t>(kinds.size());
      kinds.push_back(kind);
    } else {
      op.dst = static_cast<std::int16_t>(dst);
      kinds[dst] = spread ? vector : kind;
    }
    current[dst] = op.dst;
    if (spread) {
      if (opcode != Opcode::copy_) {
        (kind == uniform ? uniform_ops_ : scalar_ops_).push_back(op);
        op.args[0] = op.dst;
      }
      op.dst = static_cast<std::int16_t>(dst);
      op.loop = fill_loop(dtype_);
      current[dst] = dst;
      kinds[dst] = vector;
      kind = vector;
    }
    (kind == uniform ? uniform_ops_ : kind == scalar ? scalar_ops_ : block_ops_).push_back(op);
  }

  // Scalars get a cell each. Vectors share blocks: one is free again after its last use (an op may write over what it
  // reads).
  const int first = n_operands + n_constants, n_slots = static_cast<int>(kinds.size());
  std::vector<std::size_t> last_use(n_slots, 0);
  for (std::size_t k = 0; k < block_ops_.size(); ++k) {
    for (std::int16_t a : block_ops_[k].args) last_use[a] = k;
  }
  std::int64_t n_blocks = 0;
  for (const Fixed& t : temporaries_) n_blocks = std::max(n_blocks, t.offset + 1);
  std::vector<std::int64_t> block_of(n_slots, -1), free;
  for (std::size_t k = 0; k < block_ops_.size(); ++k) {
    const Op& op = block_ops_[k];
    for (std::int16_t a : op.args) {
      if (a >= first && block_of[a] >= 0 && last_use[a] == k) free.push_back(block_of[a]), block_of[a] = -1;
    }
    if (op.dst < first) continue;
    if (free.empty()) free.push_back(n_blocks++);
    block_of[op.dst] = free.back();
    temporaries_.push_back({op.dst, free.back()});
    free.pop_back();
    if (last_use[op.dst] <= k) free.push_back(block_of[op.dst]), block_of[op.dst] = -1;
  }
  for (int s = first; s < n_slots; ++s) {
    if (kinds[s] != vector) temporaries_.push_back({s, -1});
  }

  std::int64_t n_cells = 0;
  for (Fixed& t : temporaries_) n_cells += t.offset < 0;
  const std::int64_t cells_bytes = (n_cells * 8 + 63) / 64 * 64;
  std::int64_t cell = 0;
  for (Fixed& t : temporaries_) t.offset = t.offset < 0 ? 8 * cell++ : cells_bytes + t.offset * kBlockStride;
  scratch_bytes_ = static_cast<std::size_t>(cells_bytes + n_blocks * kBlockStride);
}

}  // namespace madaline::MADALINE_ISA
