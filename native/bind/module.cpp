// One source, one extension module per instruction set: CMakeLists.txt compiles it as _baseline, _avx2, _avx512.
#include "bind/bind.h"

#include <cstdlib>

NB_MODULE(MADALINE_MODULE, m) {
  // A daemon thread that still runs at exit keeps its objects, which is not a leak of the bindings. Tests that look for
  // leaks enable the report.
  nanobind::set_leak_warnings(std::getenv("MADALINE_REPORT_LEAKS") != nullptr);
  madaline::MADALINE_ISA::bind_config(m);
#ifdef MADALINE_HAS_PROGRAM
  madaline::MADALINE_ISA::bind_program(m);
  madaline::MADALINE_ISA::bind_loop(m);
#endif
}
