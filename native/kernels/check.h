// Checks everything that is added to a program, so that running needs no checks. Every error is a std::invalid_argument
// with a one-sentence message. Each instruction uses these checks in its add_to(). The minimum size of each argument is
// recorded here too, and compared with the arrays of each run.
#pragma once

#include <map>

#include "kernels/machine.h"

namespace madaline::MADALINE_ISA {

class Checks {
 public:
  Checks(std::int64_t shared_bytes, std::int64_t row_bytes, std::int64_t tile_bytes, std::int64_t lane_bytes)
      : bytes_{0, 0, shared_bytes, row_bytes, tile_bytes, lane_bytes},
        machine_(checked_bytes(shared_bytes, "shared_bytes"), checked_bytes(row_bytes, "row_bytes"),
                 checked_bytes(tile_bytes, "tile_bytes"), checked_bytes(lane_bytes, "lane_bytes")) {}

  // Requirements on the array of an argument.
  struct Needed {
    bool declared = false;
    DType dtype = DType::f32;
    struct Size {
      std::int64_t constant, per_row;
      bool has_rows;
    };
    std::vector<Size> sizes;
    std::int64_t elements(std::int64_t n_rows) const {
      std::int64_t n = 0;
      for (const Size& s : sizes) {
        if (n_rows > 0 || !s.has_rows) n = std::max(n, s.constant + s.per_row * n_rows);
      }
      return n;
    }
  };
  const std::vector<Needed>& inputs() const { return inputs_; }
  const std::vector<Needed>& outputs() const { return outputs_; }
  Machine& machine() { return machine_; }
  const Machine& machine() const { return machine_; }

  static DType checked_dtype(int dtype) {
    if (dtype < 0 || dtype > 3) invalid("Dtype " + std::to_string(dtype) + " does not exist.");
    return static_cast<DType>(dtype);
  }
  static std::size_t checked_bytes(std::int64_t bytes, const char* name) {
    if (bytes < 0) invalid(std::string(name) + " is negative.");
    return static_cast<std::size_t>(bytes);
  }

  static Reduction checked_reduction(int op) {
    if (op < 0 || op >= kReductionCount) invalid("Reduction " + std::to_string(op) + " does not exist.");
    return static_cast<Reduction>(op);
  }
  const Stage& current_stage() const {
    if (machine_.stages().empty()) invalid("Start a stage before adding instructions.");
    return machine_.stages().back();
  }
  void require_dtype(int buffer, DType dtype, const std::string& what) const {
    const DType has = machine_.buffers()[buffer].dtype;
    if (has == dtype) return;
    invalid(what + " is " + kDTypeNames[static_cast<int>(has)] + "; the instruction needs " +
            kDTypeNames[static_cast<int>(dtype)] + ".");
  }

  // Two indices must not write the same element.
  static void check_distinct(const Operand& o, const std::vector<Dim>& dims, const std::string& what) {
    if (element_count(dims, 1) == 0) return;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (o.strides[d] == 0 && (dims[d].is_rows || dims[d].coefficient > 1))
        invalid(what + " has stride 0 in dim " + std::to_string(d) + ".");
    }
  }
  void check_accumulate(bool accumulate, const Operand& dst, const char* name) const {
    if (accumulate && machine_.buffers()[dst.buffer].space != Space::lane) {
      invalid(std::string(name) + " accumulates over the rows, so its destination must be in the lane space.");
    }
  }
  // An operand over dims stays inside its buffer's memory, for every number of rows.
  void check(const Operand& o, const std::vector<Dim>& dims, bool is_written, const std::string& what) {
    const Stage& stage = current_stage();
    const auto& buffers = machine_.buffers();
    if (o.buffer < 0 || o.buffer >= static_cast<int>(buffers.size()))
      invalid(what + " uses buffer " + std::to_string(o.buffer) + ", which does not exist.");
    const Buffer& buffer = buffers[o.buffer];
    if (dims.size() > kMaxDims) invalid(what + " has more than " + std::to_string(kMaxDims) + " dims.");
    if (o.strides.size() != dims.size()) {
      invalid(what + " has " + std::to_string(o.strides.size()) + " strides for " + std::to_string(dims.size()) +
              " dims.");
    }
    const bool private_space = buffer.space == Space::tile || buffer.space == Space::lane;
    if (private_space && !stage.is_rows)
      invalid(what + " is in the " + kSpaceNames[static_cast<int>(buffer.space)] +
              " space, which exists in rows stages only.");
    if (private_space && o.row_advance != 0) invalid(what + " has a row_advance, but its space has no global rows.");
    if (o.row_advance < 0) invalid(what + " has a negative row_advance.");
    if (is_written && buffer.space == Space::input) invalid(what + " is written, but it is an input.");

    // Elements low ... constant + per_row * R are touched.
    std::int64_t low = o.offset, constant = o.offset, per_row = 0;
    bool has_rows = false;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (dims[d].coefficient < 0) invalid(what + " has a negative dim.");
      if (dims[d].coefficient == 0) return;  // nothing is touched
      if (dims[d].is_rows) {
        if (o.strides[d] < 0) invalid(what + " has a negative stride in a dim of rows.");
        per_row += dims[d].coefficient * o.strides[d];
        constant -= o.strides[d];
        has_rows = true;
      } else {
        (o.strides[d] < 0 ? low : constant) += (dims[d].coefficient - 1) * o.strides[d];
      }
    }
    if (low < 0) invalid(what + " starts before its buffer.");
    if (stage.is_rows && per_row < o.row_advance) constant += per_row - o.row_advance;
    const std::int64_t of_all = stage.is_rows ? std::max(per_row, o.row_advance) : per_row;
    const std::int64_t item = size_of(buffer.dtype);
    const std::string beyond = what + " reaches beyond its arena.";
    switch (buffer.space) {
      case Space::input: note(inputs_[buffer.offset], {constant + 1, of_all, has_rows || stage.is_rows}); break;
      case Space::output: note(outputs_[buffer.offset], {constant + 1, of_all, has_rows || stage.is_rows}); break;
      case Space::shared:
        if (of_all != 0) invalid(what + " has rows, but is in the shared space.");
        if (buffer.offset + (constant + 1) * item > bytes_[2]) invalid(beyond);
        break;
      case Space::rows:
        if (constant + 1 > 0 || buffer.offset + of_all * item > bytes_[3]) invalid(beyond);
        break;
      case Space::lane:
        lane_reach_[o.buffer] = std::max(lane_reach_[o.buffer], constant + 1 + per_row * stage.tile_rows);
        [[fallthrough]];
      case Space::tile:
        if (buffer.offset + (constant + 1 + per_row * stage.tile_rows) * item > bytes_[static_cast<int>(buffer.space)])
          invalid(beyond);
        break;
    }
  }

 protected:
  static void note(Needed& needed, const Needed::Size& size) {
    for (const auto& s : needed.sizes) {
      if (s.constant >= size.constant && s.per_row >= size.per_row && (!s.has_rows || size.has_rows)) return;
    }
    needed.sizes.push_back(size);
  }

  std::int64_t bytes_[6];
  std::vector<Needed> inputs_, outputs_;
  std::map<int, std::int64_t> lane_reach_;  // elements of a lane buffer that are in use
  Machine machine_;
};

}  // namespace madaline::MADALINE_ISA
