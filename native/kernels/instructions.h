// Every instruction that a program may have. Each is a struct in a header of its own, with
//   name         under which Python adds it
//   fields(v)    what it is given, in order: v("name", member), v.optional("name", member)
//   add_to(p)    checks the fields and adds what the machine runs
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
