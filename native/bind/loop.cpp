// Running a program many times: sources of rows, arguments that advance with the steps, and Ctrl-C. See
// native/FORMAT.md.
#include "kernels/loop.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <string>

#include "bind/arrays.h"
#include "bind/bind.h"
#include "bind/gil.h"
#include "kernels/check.h"

namespace nb = nanobind;

namespace madaline::MADALINE_ISA {
namespace {

using int64 = std::int64_t;
using namespace std::string_literals;

// Rows of arrays, which are kept alive.
class HeldRows {
 public:
  HeldRows(nb::handle array, int dtype, bool mapped) {
    const Py_buffer& view = hold(array);
    ArrayLayout layout{static_cast<const char*>(view.buf), number_of(view), view.itemsize, {}, {}};
    if (view.ndim < 1) invalid("An array without axes has no rows.");
    layout.shape.assign(view.shape, view.shape + view.ndim);
    layout.strides.assign(view.strides, view.strides + view.ndim);
    n_rows_ = layout.shape[0];
    source_ = std::make_unique<DenseRows>(layout, Checks::checked_dtype(dtype), mapped);
  }
  HeldRows(nb::handle indptr, nb::handle indices, nb::handle data, int64 n_columns, int dtype, bool mapped) {
    const DType type = Checks::checked_dtype(dtype);
    const Py_buffer *starts = &hold(indptr), *columns = &hold(indices), *values = &hold(data);
    for (const Py_buffer* view : {starts, columns, values})
      if (view->ndim != 1 || view->strides[0] != view->itemsize) invalid("Arrays of sparse rows must be contiguous.");
    const Number index = number_of(*starts);
    if (number_of(*columns) != index) invalid("indptr and indices must have the same dtype.");
    n_rows_ = starts->shape[0] - 1;
    const auto make = [&]<class I>(I) {
      source_ = std::make_unique<SparseRows<I>>(static_cast<const I*>(starts->buf), static_cast<const I*>(columns->buf),
                                                static_cast<const char*>(values->buf), number_of(*values), n_columns,
                                                type, mapped);
    };
    if (index == Number::i32) make(std::int32_t{});
    else if (index == Number::i64) make(int64{});
    else invalid("indptr and indices must be int32 or int64.");
  }
  HeldRows(const HeldRows&) = delete;
  HeldRows& operator=(const HeldRows&) = delete;
  ~HeldRows() {
    for (int i = 0; i < n_views_; ++i) PyBuffer_Release(&views_[i]);
  }
  const RowSource& source() const { return *source_; }

  // Gathers rows into an array; false if the file they are mapped to has become too short.
  bool take(nb::handle rows, nb::handle to) const {
    ArrayMemory memory;
    memory.reserve(2);
    const Py_buffer& numbers = memory.hold(rows, DType::i64, false, [] { return "rows"s; });
    const Py_buffer& found = memory.hold(to, source_->dtype(), true, [] { return "to"s; });
    const int64 n = numbers.len / 8;
    const int64* first = static_cast<const int64*>(numbers.buf);
    check_reach(found, n * source_->width(), [] { return "to"s; });
    for (int64 i = 0; i < n; ++i)
      if (first[i] < 0 || first[i] >= n_rows_) invalid("There is no row " + std::to_string(first[i]) + ".");
    ReleaseGil release;
    const BusErrors bus_errors;
    return source_->take(first, n, static_cast<char*>(found.buf));
  }

 private:
  const Py_buffer& hold(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &views_[n_views_], PyBUF_FULL_RO) != 0) throw nb::python_error();
    return views_[n_views_++];
  }
  static Number number_of(const Py_buffer& view) {
    std::string format = view.format == nullptr ? "B" : view.format;
    if (format.size() > 1 && format[0] == '=') format.erase(0, 1);  // the byte order of this machine, not aligned
    const auto integer = [&](Number one_byte) {
      int exponent = 0;
      while ((1 << exponent) < view.itemsize) ++exponent;
      return static_cast<Number>(static_cast<int>(one_byte) + exponent);
    };
    if (format == "e") return Number::f16;
    if (format == "f") return Number::f32;
    if (format == "d") return Number::f64;
    if (format == "?") return Number::boolean;
    if (format.size() == 1 && std::string("bhilq").find(format) != std::string::npos) return integer(Number::i8);
    if (format.size() == 1 && std::string("BHILQ").find(format) != std::string::npos) return integer(Number::u8);
    invalid("Rows of format '" + format + "' cannot be gathered.");
  }

  Py_buffer views_[3];
  int n_views_ = 0;
  int64 n_rows_ = 0;
  std::unique_ptr<RowSource> source_;
};

// Access of other threads to a running loop.
struct Control {
  Watch watch;
  std::atomic<int64> steps{0};
};

// Ctrl-C: Python notices signals only when its main thread asks.
struct Signals {
  std::unique_ptr<nb::python_error> error;

  static bool ask(void* self) {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0) return false;
    static_cast<Signals*>(self)->error = std::make_unique<nb::python_error>();
    return true;
  }
};

// The checked arguments of a loop; arrays are kept alive by this object.
class LoopArguments {
 public:
  LoopArguments(const Checks& program, nb::list inputs, nb::list outputs, nb::list gathered, nb::list row_counts,
                std::size_t commit, int guard, nb::handle order, nb::handle starts)
      : program_(program) {
    if (nb::len(inputs) != program.inputs().size() || nb::len(outputs) != program.outputs().size())
      invalid("The program takes " + std::to_string(program.inputs().size()) + " inputs and gives " +
              std::to_string(program.outputs().size()) + " outputs; others were given.");
    memory_.reserve(nb::len(inputs) + nb::len(outputs) + 2);
    plan_.order = static_cast<const int64*>(memory_.hold(order, DType::i64, false, [] { return "order"s; }).buf);
    const Py_buffer& edges = memory_.hold(starts, DType::i64, false, [] { return "starts"s; });
    plan_.starts = static_cast<const int64*>(edges.buf);
    plan_.n_steps = edges.len / 8 - 1;
    if (plan_.n_steps < 0) invalid("starts is empty.");
    for (int64 k = 0; k < plan_.n_steps; ++k) max_rows_ = std::max(max_rows_, plan_.starts[k + 1] - plan_.starts[k]);

    for (std::size_t i = 0; i < nb::len(inputs); ++i)
      plan_.inputs.push_back(argument(inputs[i], program.inputs()[i], false, "Input ", i));
    for (std::size_t i = 0; i < nb::len(outputs); ++i)
      plan_.outputs.push_back(argument(outputs[i], program.outputs()[i], true, "Output ", i));
    for (nb::handle item : gathered) add_gathered(item);
    for (nb::handle item : row_counts) {
      const int input = number<int>(item, 0);
      plan_.row_counts.push_back(
          {input, number<int64>(item, 1), number<int64>(item, 2), program.inputs().at(input).dtype});
    }
    if (commit > program.machine().stages().size()) invalid("commit lies behind the last stage.");
    plan_.commit = commit;
    plan_.guard = guard;
    if (guard >= 0) plan_.guard_dtype = program.outputs().at(guard).dtype;
    if (guard >= 0 && !is_float(plan_.guard_dtype)) invalid("The guard must be a float.");
  }
  const LoopPlan& plan() const { return plan_; }

 private:
  template <class T> static T number(nb::handle item, int i) { return nb::cast<T>(nb::cast<nb::sequence>(item)[i]); }

  // None, or (array, bytes per step, bytes per row).
  Argument argument(nb::handle item, const Checks::Needed& needed, bool is_written, const char* name, std::size_t i) {
    if (item.is_none()) return {};
    const auto called = [&] { return name + std::to_string(i); };
    const Py_buffer& view = memory_.hold(nb::cast<nb::sequence>(item)[0], needed.dtype, is_written, called);
    const int64 per_step = number<int64>(item, 1), per_row = number<int64>(item, 2);
    if (plan_.n_steps > 0) {
      const int64 first_row = per_row == 0 ? 0 : plan_.starts[plan_.n_steps] - max_rows_;
      const int64 last = ((plan_.n_steps - 1) * per_step + first_row * per_row) / view.itemsize;
      check_reach(view, last + needed.elements(max_rows_), called);
    }
    return {static_cast<char*>(view.buf), per_step, per_row};
  }

  void add_gathered(nb::handle item) {
    const int input = number<int>(item, 0);
    const RowSource& source = number<const HeldRows&>(item, 1).source();
    const Checks::Needed& needed = program_.inputs().at(input);
    if (source.dtype() != needed.dtype || (max_rows_ > 0 && needed.elements(max_rows_) > max_rows_ * source.width()))
      invalid("The rows of input " + std::to_string(input) + " have another dtype, or are shorter than it needs.");
    plan_.gathered.push_back({input, &source});
  }

  const Checks& program_;
  int64 max_rows_ = 0;
  LoopPlan plan_;
  ArrayMemory memory_;
};

// Returns how the loop ended. An exception of a signal handler is raised once the state is that of a complete step.
std::string run_loop(Control& control, nb::handle program, nb::list inputs, nb::list outputs, nb::list gathered,
                     nb::list row_counts, std::size_t commit, int guard, nb::handle order, nb::handle starts,
                     int threads, bool signals) {
  if (threads < 1) invalid("threads must be at least 1.");
  Checks& checks = checks_of(program);
  const LoopArguments arguments(checks, inputs, outputs, gathered, row_counts, commit, guard, order, starts);
  Loop loop(checks.machine(), arguments.plan(), threads);
  Signals python;
  Ending ending;
  control.watch.begin(signals ? &Signals::ask : nullptr, &python);
  {
    ReleaseGil release;
    ending = loop.run(control.watch, control.steps);
  }
  if (python.error) throw nb::python_error(std::move(*python.error));
  if (ending == Ending::failed)
    throw std::out_of_range("Step " + std::to_string(control.steps.load()) + ", instruction " +
                            std::to_string(loop.failure().instruction) + ", " +
                            checks.machine().failure_message(loop.failure()));
  switch (ending) {
    case Ending::finished: return "finished";
    case Ending::guarded: return "guard";
    case Ending::unreadable: return "unreadable";
    default: return "interrupted";
  }
}

}  // namespace

void bind_loop(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<HeldRows>(m, "Rows", "Rows that a loop gathers.")
      .def(nb::init<nb::handle, int, bool>(), "array"_a, "dtype"_a, "mapped"_a = false)
      .def(nb::init<nb::handle, nb::handle, nb::handle, int64, int, bool>(), "indptr"_a, "indices"_a, "data"_a,
           "n_columns"_a, "dtype"_a, "mapped"_a = false)
      .def("take", &HeldRows::take, "rows"_a, "to"_a, "Gather rows; False if the file they are mapped to was cut.");
  nb::class_<Control>(m, "Control", "A loop as other threads see it.")
      .def(nb::init<>())
      .def(
          "stop", [](Control& self) { self.watch.stop(); }, "End the loop that runs now, before its next whole step.")
      .def_prop_ro("steps", [](const Control& self) { return self.steps.load(); }, "Whole steps done.");
  m.def("run_loop", &run_loop, "control"_a, "program"_a, "inputs"_a, "outputs"_a, "gathered"_a, "row_counts"_a,
        "commit"_a, "guard"_a, "order"_a, "starts"_a, "threads"_a, "signals"_a,
        "Run a program once for each batch; native/FORMAT.md describes the arguments.");
}

}  // namespace madaline::MADALINE_ISA
