// The Python class Program: describe a program instruction by instruction, then run it. See native/FORMAT.md.
#include "bind/bind.h"

#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "bind/arrays.h"
#include "bind/gil.h"
#include "kernels/builder.h"

namespace nb = nanobind;

namespace madaline::MADALINE_ISA {
namespace {

using int64 = std::int64_t;

void read(nb::handle h, std::int64_t& to) { to = nb::cast<int64>(h); }
void read(nb::handle h, int& to) { to = nb::cast<int>(h); }
void read(nb::handle h, bool& to) { to = nb::cast<bool>(h); }
void read(nb::handle h, double& to) { to = nb::cast<double>(nb::float_(h)); }
void read(nb::handle h, DType& to) { to = Builder::checked_dtype(nb::cast<int>(h)); }
void read(nb::handle h, Reduction& to) { to = Builder::checked_reduction(nb::cast<int>(h)); }
void read(nb::handle h, Dim& to) {
  if (nb::isinstance<nb::int_>(h)) {
    to = {nb::cast<int64>(h), false};
    return;
  }
  nb::sequence pair = nb::cast<nb::sequence>(h);
  if (nb::len(pair) != 2) invalid("A dim is a pair (coefficient, is_rows).");
  to = {nb::cast<int64>(pair[0]), nb::cast<bool>(pair[1])};
}
void read(nb::handle h, Operand& to) {
  nb::sequence parts = nb::cast<nb::sequence>(h);
  if (nb::len(parts) != 4) invalid("An operand is (buffer, offset, row_advance, strides).");
  to = {nb::cast<int>(parts[0]), nb::cast<int64>(parts[1]), nb::cast<int64>(parts[2]), {}};
  for (nb::handle s : nb::cast<nb::sequence>(parts[3])) to.strides.push_back(nb::cast<int64>(s));
}
template <class T> void read(nb::handle h, std::vector<T>& to);
template <class Spec>
void read(nb::handle h, Spec& to)
  requires std::is_class_v<Spec>;

// Reads the fields of an instruction from the arguments of a Python call: by position, then by name.
class FieldReader {
 public:
  FieldReader(const char* of, nb::handle args, nb::handle kwargs) : of_(of), args_(args), kwargs_(kwargs) {}

  template <class T> void operator()(const char* name, T& to) {
    const nb::object value = next(name);
    if (!value.is_valid()) throw nb::type_error((std::string(of_) + " needs " + name + ".").c_str());
    read(value, to);
  }
  template <class T> void optional(const char* name, T& to) {
    if (const nb::object value = next(name); value.is_valid()) read(value, to);
  }
  void optional(const char* name, bool& has, Operand& to) {
    const nb::object value = next(name);
    has = value.is_valid() && !value.is_none();
    if (has) read(value, to);
  }
  template <class T> void optional(const char* name, std::optional<T>& to) {
    const nb::object value = next(name);
    if (value.is_valid() && !value.is_none()) read(value, to.emplace());
  }
  void finish() const {
    if (position_ < nb::len(args_) || (kwargs_.is_valid() && named_ != nb::len(kwargs_)))
      throw nb::type_error((std::string(of_) + " was given arguments that it does not take.").c_str());
  }

 private:
  nb::object next(const char* name) {
    if (position_ < nb::len(args_)) return nb::object(args_[position_++]);
    if (!kwargs_.is_valid() || !nb::cast<bool>(kwargs_.attr("__contains__")(name))) return {};
    ++named_;
    return nb::object(kwargs_[name]);
  }
  const char* of_;
  nb::handle args_, kwargs_;
  std::size_t position_ = 0, named_ = 0;
};

template <class T> void read(nb::handle h, std::vector<T>& to) {
  for (nb::handle item : nb::cast<nb::sequence>(h)) read(item, to.emplace_back());
}
template <class Spec>
void read(nb::handle h, Spec& to)
  requires std::is_class_v<Spec>
{
  FieldReader reader("A part of an instruction", nb::cast<nb::sequence>(h), {});
  to.fields(reader);
  reader.finish();
}

// A method of Program for each instruction.
template <class... Specs> void bind_instructions(nb::class_<Builder>& program, SpecList<Specs...>) {
  (program.def(Specs::name,
               [](Builder& self, nb::args args, nb::kwargs kwargs) {
                 Specs spec;
                 FieldReader reader(Specs::name, args, kwargs);
                 spec.fields(reader);
                 reader.finish();
                 self.add(spec);
               }),
   ...);
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

// run() returns a Failure; it does not need Python.
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

// A program with its arguments, checked once: the overhead of a run is then a tenth of a microsecond.
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

  nb::class_<Builder> program(m, "Program", "A flat program over buffers; native/FORMAT.md describes it.");
  bind_instructions(program, Instructions{});
  program
      .def(
          "__init__",
          [](Builder* self, int64 shared, int64 row, int64 tile, int64 lane) {
            new (self) Builder(shared, row, tile, lane);
          },
          "shared_bytes"_a, "row_bytes"_a, "tile_bytes"_a, "lane_bytes"_a)
      .def("buffer", &Builder::buffer, "space"_a, "dtype"_a, "offset"_a)
      .def("shared_stage", &Builder::shared_stage)
      .def("rows_stage", &Builder::rows_stage, "tile_rows"_a, "lane_rows"_a, "max_lanes"_a)
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
