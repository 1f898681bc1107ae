// One source, one extension module per instruction set: CMakeLists.txt compiles it as _baseline, _avx2, _avx512.
#include "bind/bind.h"

NB_MODULE(MADALINE_MODULE, m) {
  madaline::MADALINE_ISA::bind_config(m);
#ifdef MADALINE_HAS_PROGRAM
  madaline::MADALINE_ISA::bind_program(m);
#endif
}
