// The Python class Program: describe a program instruction by instruction, then run it. See native/FORMAT.md.
#include "bind/bind.h"

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "bind/arrays.h"
#include "bind/gil.h"
#include "kernels/builder.h"

namespace nb = nanobind;

namespace madaline::MADALINE_ISA {
namespace {

using int64 = std::int64_t;

Dim to_dim(nb::handle h) {
  if (nb::isinstance<nb::int_>(h)) return {nb::cast<int64>(h), false};
  nb::sequence pair = nb::cast<nb::sequence>(h);
  if (nb::len(pair) != 2) invalid("A dim is a pair (coefficient, is_rows).");
  return {nb::cast<int64>(pair[0]), nb::cast<bool>(pair[1])};
}
std::vector<Dim> to_dims(nb::handle h) {
  std::vector<Dim> dims;
  for (nb::handle d : nb::cast<nb::sequence>(h)) dims.push_back(to_dim(d));
  return dims;
}
Operand to_operand(nb::handle h) {
  nb::sequence parts = nb::cast<nb::sequence>(h);
  if (nb::len(parts) != 4) invalid("An operand is (buffer, offset, row_advance, strides).");
  Operand o{nb::cast<int>(parts[0]), nb::cast<int64>(parts[1]), nb::cast<int64>(parts[2]), {}};
  for (nb::handle s : nb::cast<nb::sequence>(parts[3])) o.strides.push_back(nb::cast<int64>(s));
  return o;
}
ElementwiseSpec to_chain(int dtype, nb::handle dims, nb::handle operands, nb::handle constants, int n_scratch,
                         nb::handle ops) {
  ElementwiseSpec spec;
  spec.dtype = Builder::checked_dtype(dtype);
  spec.dims = to_dims(dims);
  for (nb::handle o : nb::cast<nb::sequence>(operands)) spec.operands.push_back(to_operand(o));
  for (nb::handle c : nb::cast<nb::sequence>(constants)) spec.constants.push_back(nb::cast<double>(nb::float_(c)));
  spec.n_scratch = n_scratch;
  for (nb::handle op : nb::cast<nb::sequence>(ops)) {
    std::vector<int> numbers;
    for (nb::handle n : nb::cast<nb::sequence>(op)) numbers.push_back(nb::cast<int>(n));
    spec.ops.push_back(std::move(numbers));
  }
  return spec;
}

GatherSpec to_gather(int dtype, nb::handle outer, nb::handle count, nb::handle inner, nb::handle axis, nb::handle table,
                     nb::handle indices, nb::handle list) {
  return {Builder::checked_dtype(dtype), to_dim(outer),   to_dim(count), to_dim(inner), to_dim(axis), to_operand(table),
          to_operand(indices),           to_operand(list)};
}

// The arguments of a run, checked.
class Arguments {
 public:
  Arguments(const Builder& program, nb::list inputs, nb::list outputs, int64 n_rows)
      : n_inputs_(program.inputs().size()) {
    const std::size_t n_outputs = program.outputs().size();
    if (n_rows < 0) invalid("n_rows is negative.");
    if (nb::len(inputs) != n_inputs_) {
      invalid("The program takes " + std::to_string(n_inputs_) + " inputs; " + std::to_string(nb::len(inputs)) +
              " were given.");
    }
    if (nb::len(outputs) != n_outputs) {
      invalid("The program gives " + std::to_string(n_outputs) + " outputs; " + std::to_string(nb::len(outputs)) +
              " were given.");
    }
    data_.reserve(n_inputs_ + n_outputs);
    memory_.reserve(n_inputs_ + n_outputs);
    for (std::size_t i = 0; i < n_inputs_; ++i)
      data_.push_back(add(inputs[i], program.inputs()[i], n_rows, "Input ", i, false));
    for (std::size_t i = 0; i < n_outputs; ++i)
      data_.push_back(add(outputs[i], program.outputs()[i], n_rows, "Output ", i, true));
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  void* const* inputs() const { return data_.data(); }
  void* const* outputs() const { return data_.data() + n_inputs_; }

 private:
  void* add(nb::handle array, const Checks::Needed& needed, int64 n_rows, const char* name, std::size_t number,
            bool is_written) {
    const auto called = [&] { return name + std::to_string(number); };
    const Py_buffer& view = memory_.hold(array, needed.dtype, is_written, called);
    check_reach(view, needed.elements(n_rows), called);
    return view.buf;
  }
  std::size_t n_inputs_;
  std::vector<void*> data_;
  ArrayMemory memory_;
};

// run() gives a Failure; it does not need Python.
template <class Run> void without_gil(Builder& program, Run run) {
  Failure failure;
  {
    ReleaseGil release;
    failure = run();
  }
  if (failure.instruction >= 0) {
    throw std::out_of_range("Instruction " + std::to_string(failure.instruction) + ", " +
                            program.machine().failure_message(failure));
  }
}

void run_checked(Builder& program, const Arguments& arguments, int64 n_rows, int threads) {
  if (threads < 1) invalid("threads must be at least 1.");
  without_gil(program, [&] { return program.machine().run(arguments.inputs(), arguments.outputs(), n_rows, threads); });
}

void run(Builder& program, nb::list inputs, nb::list outputs, int64 n_rows, int threads) {
  run_checked(program, Arguments(program, inputs, outputs, n_rows), n_rows, threads);
}

// A program with its arguments, checked once: a run then costs a tenth of a microsecond besides its work.
struct BoundProgram {
  nb::object owner;  // keeps the program alive
  Builder& program;
  Arguments arguments;
  int64 n_rows;
};

template <std::size_t N> nb::dict numbered(const char* const (&names)[N]) {
  nb::dict d;
  for (std::size_t i = 0; i < N; ++i) d[names[i]] = static_cast<int>(i);
  return d;
}

}  // namespace

Checks& checks_of(nb::handle program) { return nb::cast<Builder&>(program); }

void bind_program(nb::module_& m) {
  using namespace nb::literals;
  m.attr("DTYPES") = numbered(kDTypeNames);
  m.attr("SPACES") = numbered(kSpaceNames);
  m.attr("REDUCTIONS") = numbered(kReductionNames);
  nb::dict opcodes;
  for (int i = 0; i < kOpcodeCount; ++i) opcodes[kOpcodes[i].name] = i;
  m.attr("OPCODES") = opcodes;

  nb::class_<BoundProgram>(m, "BoundProgram", "A program with arguments; they stay alive with it.")
      .def(
          "run",
          [](BoundProgram& self, int threads) { run_checked(self.program, self.arguments, self.n_rows, threads); },
          "threads"_a)
      .def(
          "profile",
          [](BoundProgram& self) {
            Machine& machine = self.program.machine();
            std::vector<double> seconds(static_cast<std::size_t>(machine.instruction_count()));
            without_gil(self.program, [&] {
              return machine.profile(self.arguments.inputs(), self.arguments.outputs(), self.n_rows, seconds.data());
            });
            nb::list found;
            for (double s : seconds) found.append(s);
            return found;
          },
          "Runs on one thread; gives the seconds that each instruction took.");

  nb::class_<Builder>(m, "Program", "A flat program over buffers; native/FORMAT.md describes it.")
      .def(
          "__init__",
          [](Builder* self, int64 shared, int64 row, int64 tile, int64 lane) {
            new (self) Builder(shared, row, tile, lane);
          },
          "shared_bytes"_a, "row_bytes"_a, "tile_bytes"_a, "lane_bytes"_a)
      .def("buffer", &Builder::buffer, "space"_a, "dtype"_a, "offset"_a)
      .def("shared_stage", &Builder::shared_stage)
      .def("rows_stage", &Builder::rows_stage, "tile_rows"_a, "lane_rows"_a, "max_lanes"_a)
      .def(
          "elementwise",
          [](Builder& self, int dtype, nb::object dims, nb::object operands, nb::object constants, int n_scratch,
             nb::object ops) { self.elementwise(to_chain(dtype, dims, operands, constants, n_scratch, ops)); },
          "dtype"_a, "dims"_a, "operands"_a, "constants"_a, "n_scratch"_a, "ops"_a)
      .def(
          "matmul",
          [](Builder& self, int dtype, nb::object batch, nb::object m, nb::object n, nb::object k, nb::object A,
             nb::object B, nb::object C, bool accumulate, nb::object bias, bool relu, nb::object gate,
             nb::object epilogue) {
            ProductSpec s;
            s.dtype = Builder::checked_dtype(dtype);
            s.batch = to_dims(batch), s.m = to_dim(m), s.n = to_dim(n), s.k = to_dim(k);
            s.A = to_operand(A), s.B = to_operand(B), s.C = to_operand(C);
            s.accumulate = accumulate, s.relu = relu, s.has_bias = !bias.is_none();
            if (s.has_bias) s.bias = to_operand(bias);
            s.has_gate = !gate.is_none();
            if (s.has_gate) s.gate = to_operand(gate);
            std::unique_ptr<ElementwiseSpec> chain;
            if (!epilogue.is_none()) {
              nb::sequence e = nb::cast<nb::sequence>(epilogue);
              if (nb::len(e) != 6) invalid("An epilogue is (dtype, dims, operands, constants, n_scratch, ops).");
              chain =
                  std::make_unique<ElementwiseSpec>(to_chain(nb::cast<int>(e[0]), nb::object(e[1]), nb::object(e[2]),
                                                             nb::object(e[3]), nb::cast<int>(e[4]), nb::object(e[5])));
            }
            self.product(std::move(s), std::move(chain));
          },
          "dtype"_a, "batch"_a, "m"_a, "n"_a, "k"_a, "A"_a, "B"_a, "C"_a, "accumulate"_a = false, "bias"_a = nb::none(),
          "relu"_a = false, "gate"_a = nb::none(), "epilogue"_a = nb::none())
      .def(
          "reduce",
          [](Builder& self, int op, int dtype, nb::object keep, nb::object reduce, nb::object src, nb::object dst,
             bool accumulate, nb::object times) {
            ReduceSpec s;
            s.dtype = Builder::checked_dtype(dtype);
            s.keep = to_dims(keep), s.reduce = to_dims(reduce), s.src = to_operand(src), s.dst = to_operand(dst);
            s.accumulate = accumulate, s.has_times = !times.is_none();
            if (s.has_times) s.times = to_operand(times);
            self.reduce(op, std::move(s));
          },
          "op"_a, "dtype"_a, "keep"_a, "reduce"_a, "src"_a, "dst"_a, "accumulate"_a = false, "times"_a = nb::none())
      .def(
          "take",
          [](Builder& self, int dtype, nb::object outer, nb::object count, nb::object inner, nb::object axis_size,
             nb::object src, nb::object indices,
             nb::object dst) { self.take(to_gather(dtype, outer, count, inner, axis_size, src, indices, dst)); },
          "dtype"_a, "outer"_a, "count"_a, "inner"_a, "axis_size"_a, "src"_a, "indices"_a, "dst"_a)
      .def(
          "scatter_add",
          [](Builder& self, int dtype, nb::object outer, nb::object count, nb::object inner, nb::object axis_size,
             nb::object src, nb::object indices, nb::object dst, bool accumulate) {
            self.scatter_add(to_gather(dtype, outer, count, inner, axis_size, dst, indices, src), accumulate);
          },
          "dtype"_a, "outer"_a, "count"_a, "inner"_a, "axis_size"_a, "src"_a, "indices"_a, "dst"_a,
          "accumulate"_a = false)
      .def(
          "class_loss",
          [](Builder& self, int dtype, nb::object n, int64 classes, nb::object logits, nb::object indices,
             nb::object factor, nb::object dst) {
            self.class_loss({Builder::checked_dtype(dtype), to_dim(n), classes, to_operand(logits), to_operand(indices),
                             to_operand(factor), to_operand(dst)});
          },
          "dtype"_a, "n"_a, "classes"_a, "logits"_a, "indices"_a, "factor"_a, "dst"_a)
      .def(
          "rank_one_step",
          [](Builder& self, int dtype, int64 size, nb::object w, nb::object rate, nb::object dst, nb::list parts) {
            RankOneStepSpec spec{
                Builder::checked_dtype(dtype), size, to_operand(w), to_operand(rate), to_operand(dst), {}};
            for (nb::handle part : parts) {
              nb::sequence p = nb::cast<nb::sequence>(part);
              if (nb::len(p) != 5) invalid("A part of rank_one_step is (start, rows, columns, a, d).");
              const Operand d = to_operand(nb::object(p[4]));
              const bool has_a = !nb::object(p[3]).is_none();
              spec.parts.push_back({nb::cast<int64>(p[0]), nb::cast<int64>(p[1]), nb::cast<int64>(p[2]),
                                    has_a ? to_operand(nb::object(p[3])) : d, d});
              if (has_a != (spec.parts.back().rows > 0)) invalid("A part of rank_one_step has rows if it has a.");
            }
            self.rank_one_step(std::move(spec));
          },
          "dtype"_a, "size"_a, "w"_a, "rate"_a, "dst"_a, "parts"_a)
      .def(
          "cumsum",
          [](Builder& self, int dtype, nb::object outer, nb::object axis, nb::object inner, nb::object src,
             nb::object dst, bool reverse) {
            self.cumsum(dtype, to_dim(outer), to_dim(axis), to_dim(inner), to_operand(src), to_operand(dst), reverse);
          },
          "dtype"_a, "outer"_a, "axis"_a, "inner"_a, "src"_a, "dst"_a, "reverse"_a = false)
      .def(
          "random",
          [](Builder& self, int dtype, nb::object dims, nb::object dst, nb::object key, int64 stream, bool rows) {
            self.random(dtype, to_dims(dims), to_operand(dst), to_operand(key), stream, rows);
          },
          "dtype"_a, "dims"_a, "dst"_a, "key"_a, "stream"_a, "rows"_a = false)
      .def(
          "argsort",
          [](Builder& self, int dtype, nb::object outer, nb::object axis, nb::object inner, nb::object src,
             nb::object dst) {
            self.argsort(dtype, to_dim(outer), to_dim(axis), to_dim(inner), to_operand(src), to_operand(dst));
          },
          "dtype"_a, "outer"_a, "axis"_a, "inner"_a, "src"_a, "dst"_a)
      .def("combine", &Builder::combine, "op"_a, "dtype"_a, "lane_buffer"_a, "dst_buffer"_a, "size"_a, "offset"_a = 0)
      .def("run", &run, "inputs"_a, "outputs"_a, "n_rows"_a, "threads"_a)
      .def(
          "bind",
          [](nb::handle_t<Builder> self, nb::list inputs, nb::list outputs, int64 n_rows) {
            Builder& program = nb::cast<Builder&>(self);
            return new BoundProgram{nb::borrow(self), program, Arguments(program, inputs, outputs, n_rows), n_rows};
          },
          "inputs"_a, "outputs"_a, "n_rows"_a,
          "The program with these arguments: its run(threads) checks nothing more.")
      .def_prop_ro("instruction_count", [](const Builder& self) { return self.machine().instruction_count(); })
      .def(
          "memory",
          [](const Builder& self, int64 n_rows, int threads) { return self.machine().memory(n_rows, threads); },
          "n_rows"_a, "threads"_a);
}

}  // namespace madaline::MADALINE_ISA
