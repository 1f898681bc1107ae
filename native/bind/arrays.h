// Memory of NumPy arrays, by the buffer protocol: several times faster than nanobind's arrays, which matters because a
// step of a small net takes only a few microseconds.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "kernels/program.h"

namespace madaline::MADALINE_ISA {

// Arrays that are kept alive by this object.
class ArrayMemory {
 public:
  ArrayMemory() = default;
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;
  ~ArrayMemory() {
    for (Py_buffer& view : views_) PyBuffer_Release(&view);
  }
  void reserve(std::size_t n) { views_.reserve(n); }  // a view must not move while it is held

  // An array as required by a program. called(): its name for error messages.
  template <class Called> const Py_buffer& hold(nanobind::handle array, DType dtype, bool is_written, Called called) {
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (is_written ? PyBUF_WRITABLE : 0);
    Py_buffer view;
    if (PyObject_GetBuffer(array.ptr(), &view, flags) != 0) {
      PyErr_Clear();
      invalid(called() + " must be a C-contiguous NumPy array" + (is_written ? " that can be written." : "."));
    }
    views_.push_back(view);
    if (!has_dtype(view, dtype)) invalid(called() + " must have dtype " + kDTypeNames[static_cast<int>(dtype)] + ".");
    return views_.back();
  }

 private:
  static bool has_dtype(const Py_buffer& view, DType wanted) {
    const char* format = view.format;
    if (format == nullptr || format[0] == '\0' || format[1] != '\0' || view.itemsize != size_of(wanted)) return false;
    switch (wanted) {
      case DType::f32: return format[0] == 'f';
      case DType::f64: return format[0] == 'd';
      case DType::i64: return format[0] == 'l' || format[0] == 'q';
      case DType::boolean: return format[0] == '?';
    }
    return false;
  }
  std::vector<Py_buffer> views_;
};

template <class Called> void check_reach(const Py_buffer& view, std::int64_t reached, Called called) {
  const std::int64_t has = view.len / view.itemsize;
  if (has < reached)
    invalid(called() + " has " + std::to_string(has) + " elements; the program reaches " + std::to_string(reached) +
            " of them.");
}

}  // namespace madaline::MADALINE_ISA
