// All instructions of programs. Each is a struct in its own header, with
//   name         the name under which Python adds it
//   fields(v)    its fields in order: v("name", member), v.optional("name", member)
//   add_to(p)    checks the fields and adds the object that the machine runs
#pragma once

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

template <class... Specs> struct SpecList {};
using Instructions = SpecList<ElementwiseSpec, ProductSpec, ReduceSpec, TakeSpec, ScatterAddSpec, ClassLossSpec,
                              RankOneStepSpec, CumsumSpec, ArgsortSpec, RandomSpec>;

}  // namespace madaline::MADALINE_ISA
