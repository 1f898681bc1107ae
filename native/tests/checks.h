// Counting checks, random numbers and opcodes for tests of the machine.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "kernels/builder.h"

inline std::atomic<int> passed = 0, failed = 0;

inline void check(bool ok, const std::string& what) {
  ok ? ++passed : ++failed;
  if (!ok && failed <= 20) std::printf("FAILED: %s\n", what.c_str());
}

inline std::mt19937 rng(1);
inline int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); }

inline int opcode(const std::string& name) {
  using namespace madaline::MADALINE_ISA;
  for (int i = 0; i < kOpcodeCount; ++i) {
    if (name == kOpcodes[i].name) return i;
  }
  std::printf("no opcode %s\n", name.c_str());
  std::exit(1);
}
