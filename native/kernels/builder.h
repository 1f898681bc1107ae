// Builds a program: checks each instruction that is added and makes what the machine runs.
#pragma once

#include "kernels/check.h"
#include "kernels/class_loss.h"
#include "kernels/elementwise.h"
#include "kernels/gather.h"
#include "kernels/product.h"
#include "kernels/random.h"
#include "kernels/rank_one.h"
#include "kernels/reduce.h"
#include "kernels/scan.h"
#include "kernels/sort.h"

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

  void elementwise(ElementwiseSpec spec) { machine_.add(make_elementwise(std::move(spec))); }

  void product(ProductSpec s, std::unique_ptr<ElementwiseSpec> epilogue) {
    const std::vector<Dim> a = joined(s.batch, {s.m, s.k}), b = joined(s.batch, {s.k, s.n}),
                           c = joined(s.batch, {s.m, s.n});
    check(s.A, a, false, "A of matmul"), check(s.B, b, false, "B of matmul"), check(s.C, c, true, "C of matmul");
    require_dtype(s.A.buffer, s.dtype, "A of matmul"), require_dtype(s.B.buffer, s.dtype, "B of matmul"),
        require_dtype(s.C.buffer, s.dtype, "C of matmul");
    if (s.dtype == DType::boolean) invalid("matmul does not exist for bool.");
    const bool one_column = !s.n.is_rows && s.n.coefficient <= 1;
    if (s.C.strides.back() != 1 && !one_column && element_count(c, 1) > 0)
      invalid("C of matmul must have unit stride in n.");
    if (s.C.strides[s.batch.size()] < 0) invalid("C of matmul must not have a negative stride in m.");
    check_accumulate(s.accumulate, s.C, "matmul");
    if (s.accumulate && (s.has_bias || s.relu || s.has_gate || epilogue))
      invalid("A matmul that accumulates over the rows takes no bias, relu, gate or epilogue.");
    if (s.has_bias) {
      check(s.bias, {s.n}, false, "The bias of matmul");
      require_dtype(s.bias.buffer, s.dtype, "The bias of matmul");
      if (s.bias.strides[0] != 0 && s.bias.strides[0] != 1) invalid("The bias of matmul must have stride 0 or 1.");
    }
    if (s.has_gate) {
      if (!s.batch.empty() || !is_float(s.dtype)) invalid("A gate needs a matmul of floats without batch dims.");
      check(s.gate, {s.m, s.n}, false, "The gate of matmul");
      require_dtype(s.gate.buffer, s.dtype, "The gate of matmul");
      if (s.gate.strides[1] != 1 && !one_column) invalid("The gate of matmul must have unit stride in n.");
    }
    std::unique_ptr<Elementwise> chain;
    if (epilogue) {
      if (!s.batch.empty()) invalid("A matmul with batch dims takes no epilogue.");
      const bool matches = !epilogue->dims.empty() && epilogue->dims[0].coefficient == s.m.coefficient &&
                           epilogue->dims[0].is_rows == s.m.is_rows;
      if (!matches) invalid("The first dim of a matmul's epilogue must be m.");
      chain = make_elementwise(std::move(*epilogue));
    }
    if (s.dtype == DType::f32) machine_.add(std::make_unique<ProductOf<float>>(s, std::move(chain)));
    else if (s.dtype == DType::f64) machine_.add(std::make_unique<ProductOf<double>>(s, std::move(chain)));
    else machine_.add(std::make_unique<ProductOf<std::int64_t>>(s, std::move(chain)));
  }

  void reduce(int op, ReduceSpec s) {
    s.op = checked_reduction(op);
    check(s.src, joined(s.keep, s.reduce), false, "src of reduce");
    check(s.dst, s.keep, true, "dst of reduce");
    check_distinct(s.dst, s.keep, "dst of reduce");
    require_dtype(s.src.buffer, s.dtype, "src of reduce");
    require_dtype(s.dst.buffer, s.op == Reduction::argmax ? DType::i64 : s.dtype, "dst of reduce");
    if (s.op == Reduction::logsumexp && !is_float(s.dtype)) invalid("logsumexp exists for floats only.");
    if (s.dtype == DType::boolean && (s.op == Reduction::sum || s.op == Reduction::prod))
      invalid("sum and prod do not exist for bool; convert first.");
    if (s.accumulate && s.op == Reduction::argmax) invalid("argmax cannot accumulate over the rows.");
    check_accumulate(s.accumulate, s.dst, "reduce");
    if (s.has_times) {
      check(s.times, joined(s.keep, s.reduce), false, "times of reduce");
      require_dtype(s.times.buffer, s.dtype, "times of reduce");
      const bool columns =
          s.keep.size() == 1 && s.reduce.size() == 1 && !s.keep[0].is_rows && s.keep[0].coefficient > 1;
      if (s.op != Reduction::sum || !is_float(s.dtype) || !columns || s.src.strides[0] != 1 || s.times.strides[0] != 1)
        invalid("times of reduce is for sums of floats down several columns, both operands contiguous across them.");
    }
    with_type(s.dtype, [&](auto t) { machine_.add(std::make_unique<ReduceOf<decltype(t)>>(s)); });
  }

  void take(GatherSpec s) {
    check_gather(s, "take", false);
    check_distinct(s.list, {s.outer, s.count, s.inner}, "dst of take");
    with_type(s.dtype, [&](auto t) { machine_.add(std::make_unique<Take<decltype(t)>>(s)); });
  }
  void scatter_add(GatherSpec s, bool accumulate) {
    if (s.dtype == DType::boolean) invalid("scatter_add does not exist for bool.");
    check_gather(s, "scatter_add", true);
    check_accumulate(accumulate, s.table, "scatter_add");
    check_distinct(s.table, {s.outer, s.axis, s.inner}, "dst of scatter_add");
    with_type(s.dtype, [&](auto t) { machine_.add(std::make_unique<ScatterAdd<decltype(t)>>(s, accumulate)); });
  }

  void class_loss(ClassLossSpec s) {
    if (!is_float(s.dtype)) invalid("class_loss exists for floats only.");
    if (s.classes < 1 || s.classes > kMostClasses)
      invalid("class_loss takes 1 to " + std::to_string(kMostClasses) + " classes.");
    const std::vector<Dim> logits{s.n, {s.classes, false}}, dst{s.n, {s.classes + 1, false}};
    check(s.logits, logits, false, "logits of class_loss"), check(s.indices, {s.n}, false, "indices of class_loss");
    check(s.factor, {s.n}, false, "factor of class_loss"), check(s.dst, dst, true, "dst of class_loss");
    check_distinct(s.dst, dst, "dst of class_loss");
    require_dtype(s.logits.buffer, s.dtype, "logits of class_loss");
    require_dtype(s.indices.buffer, DType::i64, "indices of class_loss");
    require_dtype(s.factor.buffer, s.dtype, "factor of class_loss");
    require_dtype(s.dst.buffer, s.dtype, "dst of class_loss");
    if (s.dtype == DType::f32) machine_.add(std::make_unique<ClassLossOf<float>>(s));
    else machine_.add(std::make_unique<ClassLossOf<double>>(s));
  }

  void rank_one_step(RankOneStepSpec s) {
    if (!is_float(s.dtype)) invalid("rank_one_step exists for floats only.");
    if (s.size < 0) invalid("rank_one_step has a negative size.");
    const auto vector = [&](const Operand& o, std::int64_t n, bool written, const std::string& name) {
      check(o, {{n, false}}, written, name);
      require_dtype(o.buffer, s.dtype, name);
      if (o.strides[0] != 1) invalid(name + " must have unit stride.");
    };
    vector(s.w, s.size, false, "w of rank_one_step"), vector(s.dst, s.size, true, "dst of rank_one_step");
    vector(s.rate, 1, false, "The rate of rank_one_step");
    std::int64_t end = 0;
    for (const RankOnePart& p : s.parts) {
      if (p.start != end || p.rows < 0 || p.columns < 0 || p.columns > s.size || p.rows > s.size)
        invalid("The parts of rank_one_step must follow each other without gaps.");
      if (p.rows > 0) vector(p.a, p.rows, false, "a of rank_one_step");
      vector(p.d, p.columns, false, "d of rank_one_step");
      end = p.start + std::max<std::int64_t>(p.rows, 1) * p.columns;
    }
    if (end != s.size) invalid("The parts of rank_one_step must make up w.");
    if (s.dtype == DType::f32) machine_.add(std::make_unique<RankOneStepOf<float>>(s));
    else machine_.add(std::make_unique<RankOneStepOf<double>>(s));
  }

  void cumsum(int dtype, Dim outer, Dim axis, Dim inner, const Operand& src, const Operand& dst, bool reverse) {
    const DType type = checked_dtype(dtype);
    const std::vector<Dim> dims{outer, axis, inner};
    check(src, dims, false, "src of cumsum"), check(dst, dims, true, "dst of cumsum");
    check_distinct(dst, dims, "dst of cumsum");
    require_dtype(src.buffer, type, "src of cumsum"), require_dtype(dst.buffer, type, "dst of cumsum");
    if (type == DType::boolean) invalid("cumsum does not exist for bool.");
    with_type(type, [&](auto t) {
      machine_.add(std::make_unique<CumsumOf<decltype(t)>>(outer, axis, inner, src, dst, reverse));
    });
  }

  void argsort(int dtype, Dim outer, Dim axis, Dim inner, const Operand& src, const Operand& dst) {
    const DType type = checked_dtype(dtype);
    const std::vector<Dim> dims{outer, axis, inner};
    check(src, dims, false, "src of argsort"), check(dst, dims, true, "dst of argsort");
    check_distinct(dst, dims, "dst of argsort");
    require_dtype(src.buffer, type, "src of argsort"), require_dtype(dst.buffer, DType::i64, "dst of argsort");
    with_type(type,
              [&](auto t) { machine_.add(std::make_unique<ArgsortOf<decltype(t)>>(outer, axis, inner, src, dst)); });
  }

  void random(int dtype, const std::vector<Dim>& dims, const Operand& dst, const Operand& key, std::int64_t stream,
              bool rows = false) {
    const DType type = checked_dtype(dtype);
    if (!is_float(type)) invalid("random exists for floats only.");
    if (stream < 0 || stream > 0xffffffff) invalid("The stream of random must be an unsigned 32-bit integer.");
    check(dst, dims, true, "dst of random"), check(key, {{2, false}}, false, "The key of random");
    check_distinct(dst, dims, "dst of random");
    require_dtype(dst.buffer, type, "dst of random"), require_dtype(key.buffer, DType::i64, "The key of random");
    if (rows && dims.empty()) invalid("random by rows needs a first dim to count them.");
    machine_.add(std::make_unique<Random>(type, dims, dst, key, static_cast<std::uint32_t>(stream), rows));
  }

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
    // So all that instructions use of the lane buffer must fit there.
    check({dst_buffer, 0, 0, {1}}, {{lane_reach_[lane_buffer], false}}, true, "The destination of combine");
    // Written even when there are no rows.
    if (to.space == Space::output) note(outputs_[to.offset], {offset + size, 0, false});
    machine_.add_combine(
        {reduction, type, lane_buffer, dst_buffer, offset, size, machine_.buffers()[lane_buffer].offset});
  }

 private:
  static std::vector<Dim> joined(std::vector<Dim> a, const std::vector<Dim>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  template <class F> static void with_type(DType dtype, F f) {
    switch (dtype) {
      case DType::f32: return f(float{});
      case DType::f64: return f(double{});
      case DType::i64: return f(std::int64_t{});
      case DType::boolean: return f(std::uint8_t{});
    }
  }
  void check_gather(const GatherSpec& s, const std::string& name, bool table_written) {
    check(s.table, {s.outer, s.axis, s.inner}, table_written, (table_written ? "dst of " : "src of ") + name);
    check(s.list, {s.outer, s.count, s.inner}, !table_written, (table_written ? "src of " : "dst of ") + name);
    check(s.indices, {s.outer, s.count}, false, "indices of " + name);
    require_dtype(s.table.buffer, s.dtype, "The table of " + name),
        require_dtype(s.list.buffer, s.dtype, "The list of " + name);
    require_dtype(s.indices.buffer, DType::i64, "indices of " + name);
  }

  std::unique_ptr<Elementwise> make_elementwise(ElementwiseSpec spec) {
    current_stage();
    const int n = static_cast<int>(spec.operands.size());
    std::vector<bool> written(n, false);
    for (const auto& op : spec.ops) {
      if (op.size() > 1 && op[1] >= 0 && op[1] < n) written[op[1]] = true;
    }
    for (int i = 0; i < n; ++i)
      check(spec.operands[i], spec.dims, written[i], "Operand " + std::to_string(i) + " of the elementwise chain");
    return std::make_unique<Elementwise>(std::move(spec), machine_.buffers());
  }
};

}  // namespace madaline::MADALINE_ISA
