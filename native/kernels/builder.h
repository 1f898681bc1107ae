// Builds a program: checks each instruction that is added and creates the object that the machine runs.
#pragma once

#include "kernels/instructions.h"

namespace madaline::MADALINE_ISA {

class Builder : public Checks {
 public:
  using Checks::Checks;

  int buffer(int space, int dtype, std::int64_t offset) {
    if (space < 0 || space > 5) invalid("Space " + std::to_string(space) + " does not exist.");
    const Buffer b{static_cast<Space>(space), checked_dtype(dtype), offset};
    const bool argument = b.space == Space::input || b.space == Space::output;
    if (offset < 0 || (argument && offset > 100000))
      invalid("A buffer's offset " + std::to_string(offset) + " is out of range.");
    if (!argument && b.space != Space::rows && offset % 64 != 0) invalid("A buffer's offset must be a multiple of 64.");
    if (!argument && offset > bytes_[space]) invalid("A buffer's offset lies beyond its arena.");
    if (argument) {
      auto& arguments = b.space == Space::input ? inputs_ : outputs_;
      if (static_cast<std::size_t>(offset) >= arguments.size()) arguments.resize(offset + 1);
      Needed& needed = arguments[offset];
      if (needed.declared && needed.dtype != b.dtype) invalid("Two buffers of one argument have different dtypes.");
      needed.declared = true;
      needed.dtype = b.dtype;
    }
    return machine_.add_buffer(b);
  }

  void shared_stage() { machine_.add_stage({}); }
  void rows_stage(std::int64_t tile_rows, std::int64_t lane_rows, std::int64_t max_lanes) {
    if (tile_rows < 1 || lane_rows < 1 || max_lanes < 1)
      invalid("tile_rows, lane_rows and max_lanes must be positive.");
    Stage stage;
    stage.is_rows = true;
    stage.tile_rows = tile_rows, stage.lane_rows = lane_rows, stage.max_lanes = max_lanes;
    machine_.add_stage(std::move(stage));
  }

  template <class Spec> void add(const Spec& spec) { spec.add_to(*this); }

  void combine(int op, int dtype, int lane_buffer, int dst_buffer, std::int64_t size, std::int64_t offset = 0) {
    const Stage& stage = current_stage();
    const Reduction reduction = checked_reduction(op);
    const DType type = checked_dtype(dtype);
    if (!stage.is_rows) invalid("combine belongs to a rows stage; the current stage is shared.");
    if (reduction == Reduction::argmax) invalid("combine cannot fold argmax.");
    if (type == DType::boolean) invalid("combine does not exist for bool.");
    if (reduction == Reduction::logsumexp && !is_float(type)) invalid("logsumexp exists for floats only.");
    if (size < 0) invalid("combine has a negative size.");
    if (offset < 0) invalid("combine has a negative offset.");
    Operand lane{lane_buffer, offset, 0, {1}}, dst{dst_buffer, offset, 0, {1}};
    const std::vector<Dim> dims{{size, false}};
    check(lane, dims, false, "The lane buffer of combine");
    check(dst, dims, true, "The destination of combine");
    if (machine_.buffers()[lane_buffer].space != Space::lane)
      invalid("The lane buffer of combine is not in the lane space.");
    const Buffer& to = machine_.buffers()[dst_buffer];
    if (to.space == Space::tile || to.space == Space::lane)
      invalid("The destination of combine must outlive the stage.");
    require_dtype(lane_buffer, type, "The lane buffer of combine");
    require_dtype(dst_buffer, type, "The destination of combine");
    for (const Combine& other : stage.combines) {
      if (other.lane == lane_buffer && other.dst != dst_buffer)
        invalid("A lane buffer is combined into one destination only: the first lane works there.");
    }
    // So everything that instructions use of the lane buffer must fit in the destination.
    check({dst_buffer, 0, 0, {1}}, {{lane_reach_[lane_buffer], false}}, true, "The destination of combine");
    // Written even when there are no rows.
    if (to.space == Space::output) note(outputs_[to.offset], {offset + size, 0, false});
    machine_.add_combine(
        {reduction, type, lane_buffer, dst_buffer, offset, size, machine_.buffers()[lane_buffer].offset});
  }
};

}  // namespace madaline::MADALINE_ISA
