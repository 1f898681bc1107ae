// The functions that fill an extension module. Everything bound lives in a namespace named after the instruction set,
// so that two modules loaded into one process never share a type or an inline function.
#pragma once

#include <nanobind/nanobind.h>

namespace madaline::MADALINE_ISA {

class Checks;

void bind_config(nanobind::module_& m);   // config.cpp: features of this CPU and this build
void bind_program(nanobind::module_& m);  // program.cpp: describe a program, run it
void bind_loop(nanobind::module_& m);     // loop.cpp: run a program many times

// program.cpp: the program inside a Python Program object. Throws for other objects.
Checks& checks_of(nanobind::handle program);

}  // namespace madaline::MADALINE_ISA
