// The instruction set of this module, and those that this CPU supports.
#include "bind/bind.h"
#include "bind/gil.h"
#include "kernels/arena.h"
#include "kernels/threads.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#define MADALINE_STRING_OF(x) #x
#define MADALINE_STRING(x) MADALINE_STRING_OF(x)

namespace nb = nanobind;

namespace madaline::MADALINE_ISA {
namespace {

// Slowest first. __builtin_cpu_supports also asks the operating system (XGETBV), which must save the wide registers.
std::vector<std::string> cpu_isas() {
  std::vector<std::string> isas{"baseline"};
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    isas.push_back("avx2");
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw")) {
      isas.push_back("avx512");
    }
  }
#endif
  return isas;
}

}  // namespace

void bind_config(nb::module_& m) {
  m.attr("isa") = MADALINE_STRING(MADALINE_ISA);
  m.attr("compiler") = MADALINE_COMPILER;
  // Created during import, so that no fork can happen during their construction. Does not start threads.
  ThreadPool::instance();
  IdleArenas::instance();
  ReleaseGil::watch_for_exit();
  m.def("n_workers", [] { return ThreadPool::instance().n_workers(); }, "Threads the pool has started so far.");
  m.def("cpu_isas", &cpu_isas, "Instruction sets this CPU and operating system can run, slowest first.");
}

}  // namespace madaline::MADALINE_ISA
