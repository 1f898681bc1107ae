// Compares loops with plain ones: rows of random layout and type gathered by one to four threads, sparse rows, carried
// values, tables, the guard, and stopping at any moment from another thread. Meant for the sanitizers; values are
// compared with NumPy in tests/kernels/test_loop.py and test_sources.py. Part of test_machine.cpp, so that the machine,
// which takes long, is compiled once for both.
#pragma once

#include <atomic>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "checks.h"
#include "kernels/builder.h"
#include "kernels/loop.h"

namespace loop_tests {

using namespace madaline::MADALINE_ISA;

constexpr int kInput = 0, kOutput = 1, kF32 = 0;

// Writes and reads the bytes of every number type.
template <class S> std::vector<char> bytes_of(const std::vector<double>& values) {
  std::vector<char> bytes(values.size() * sizeof(S));
  for (std::size_t i = 0; i < values.size(); ++i) {
    S x;
    if constexpr (std::is_same_v<S, Half>) x.bits = static_cast<std::uint16_t>(values[i] == 0 ? 0 : 0x3c00);  // 1
    else if constexpr (std::is_same_v<S, Truth>) x.byte = values[i] != 0;
    else x = static_cast<S>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(S), &x, sizeof(S));
  }
  return bytes;
}

// Rows of exactly sized memory at an odd address, stored backwards or in another order of dims.
inline void random_rows(int round) {
  const auto number = static_cast<Number>(pick(0, 11));
  const std::int64_t n = pick(1, 9), a = pick(1, 6), b = pick(1, 40);
  std::vector<double> values(n * a * b);
  const bool coarse = number == Number::f16 || number == Number::boolean;
  for (double& v : values) v = coarse ? pick(0, 1) : pick(0, 100);
  with_number(number, [&](auto s) {
    using S = decltype(s);
    constexpr std::int64_t item = sizeof(S);
    const std::vector<char> stored = bytes_of<S>(values);
    const std::size_t shift = pick(0, 1);
    auto memory = std::make_unique<char[]>(stored.size() + shift);
    std::memcpy(memory.get() + shift, stored.data(), stored.size());
    ArrayLayout layout{memory.get() + shift, number, item, {n, a, b}, {a * b * item, b * item, item}};
    std::int64_t step[] = {a * b, b, 1}, first = 0;
    if (pick(0, 2) == 0) {  // axes the other way round
      layout.strides = {item, n * item, n * a * item};
      step[0] = 1, step[1] = n, step[2] = n * a;
    }
    for (int d = 0; d < 3; ++d) {
      if (pick(0, 3) != 0) continue;
      first += step[d] * (layout.shape[d] - 1);
      step[d] = -step[d], layout.strides[d] = -layout.strides[d];
    }
    layout.data += first * item;
    std::vector<std::int64_t> rows(pick(1, 20));
    for (auto& r : rows) r = pick(0, static_cast<int>(n) - 1);
    const DType to = number == Number::boolean && pick(0, 1) ? DType::boolean
                     : number > Number::f64 && pick(0, 1)    ? DType::i64
                     : pick(0, 1)                            ? DType::f64
                                                             : DType::f32;
    const DenseRows source(layout, to);
    std::vector<char> found(rows.size() * a * b * size_of(to));
    source.gather(rows.data(), static_cast<std::int64_t>(rows.size()), found.data());
    bool ok = true;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::int64_t j = 0; j < a; ++j)
        for (std::int64_t k = 0; k < b; ++k) {
          const double wanted = values[first + rows[i] * step[0] + j * step[1] + k * step[2]];
          const char* at = found.data() + ((i * a + j) * b + k) * size_of(to);
          ok &= wanted == (to == DType::f32   ? loaded<float>(at)
                           : to == DType::f64 ? loaded<double>(at)
                           : to == DType::i64 ? static_cast<double>(loaded<std::int64_t>(at))
                                              : static_cast<double>(loaded<std::uint8_t>(at)));
        }
    check(ok, "random rows " + std::to_string(round));
  });
}

inline void every_half() {
  bool ok = true;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const float sign = bits & 0x8000 ? -1.0f : 1.0f;
    const float found = static_cast<float>(Half{static_cast<std::uint16_t>(bits)});
    if (exponent == 31 && fraction != 0) ok &= std::isnan(found);
    else if (exponent == 31) ok &= found == sign * INFINITY;
    else
      ok &= found == sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                           : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25));
  }
  check(ok, "every number of half precision");
}

inline void sparse_rows() {
  const std::int32_t indptr[] = {0, 2, 2, 3}, indices[] = {3, 0, 1};
  const double data[] = {5, 7, 9};
  const SparseRows<std::int32_t> source(indptr, indices, reinterpret_cast<const char*>(data), Number::f64, 4,
                                        DType::f32);
  const std::int64_t rows[] = {2, 0, 1, 0};
  float found[16];
  source.gather(rows, 4, reinterpret_cast<char*>(found));
  const float wanted[] = {0, 9, 0, 0, 7, 0, 0, 5, 0, 0, 0, 0, 7, 0, 0, 5};
  check(std::equal(found, found + 16, wanted), "sparse rows");
}

// total += rate * sum of the batch (elementwise, then a sum over rows); total is carried, rate a table, sum emitted.
struct Summing {
  static constexpr std::int64_t kWidth = 300, kRows = 1000, kBatch = 400;
  Builder program{64, 0, 0, 0};
  std::vector<float> x, total, rates, sums;
  std::vector<std::int64_t> order, starts;
  std::unique_ptr<DenseRows> source;

  explicit Summing(std::int64_t n_steps) : x(kWidth * kRows), total(1, 0.0f), rates(n_steps), sums(n_steps, -1.0f) {
    for (float& v : x) v = static_cast<float>(pick(-4, 4));
    for (float& v : rates) v = static_cast<float>(pick(1, 3));
    starts.push_back(0);
    for (std::int64_t k = 0; k < n_steps; ++k) starts.push_back(starts.back() + (k % 3 == 2 ? 1 : kBatch));
    for (std::int64_t i = 0; i < starts.back(); ++i) order.push_back(pick(0, kRows - 1));
    const ArrayLayout layout{reinterpret_cast<const char*>(x.data()), Number::f32, 4, {kRows, kWidth}, {kWidth * 4, 4}};
    source = std::make_unique<DenseRows>(layout, DType::f32);

    const int T = program.buffer(kInput, kF32, 0), X = program.buffer(kInput, kF32, 1),
              R = program.buffer(kInput, kF32, 2), out = program.buffer(kOutput, kF32, 0),
              sum = program.buffer(kOutput, kF32, 1);
    program.shared_stage();
    program.add(ReduceSpec{
        Reduction::sum, DType::f32, {}, {{1, true}, {kWidth, false}}, {X, 0, 0, {kWidth, 1}}, {sum, 0, 0, {}}, false});
    program.shared_stage();
    ElementwiseSpec s;
    s.dims = {{1, false}};
    s.operands = {{T, 0, 0, {1}}, {R, 0, 0, {0}}, {sum, 0, 0, {0}}, {out, 0, 0, {1}}};
    s.n_scratch = 1;
    s.ops = {{opcode("multiply"), 4, 1, 2}, {opcode("add"), 3, 0, 4}};
    program.add(s);
  }
  LoopPlan plan() {
    LoopPlan p;
    const auto at = [](std::vector<float>& v) { return reinterpret_cast<char*>(v.data()); };
    p.inputs = {{at(total), 0, 0}, {}, {at(rates), 4, 0}};
    p.outputs = {{at(total), 0, 0}, {at(sums), 4, 0}};
    p.gathered = {{1, source.get()}};
    p.commit = 1, p.guard = 1;
    p.order = order.data(), p.starts = starts.data();
    p.n_steps = static_cast<std::int64_t>(starts.size()) - 1;
    return p;
  }
  // Expected result of the first n steps; all numbers are small integers, so the order of sums does not matter.
  float expected(std::int64_t n) const {
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t i = starts[k]; i < starts[k + 1]; ++i)
        for (std::int64_t j = 0; j < kWidth; ++j) sum += rates[k] * x[order[i] * kWidth + j];
    return static_cast<float>(sum);
  }
};

inline void whole_loops() {
  for (int threads = 1; threads <= 4; ++threads) {
    Summing s(7);
    Watch watch;
    watch.begin(nullptr, nullptr);
    std::atomic<std::int64_t> steps{0};
    Loop loop(s.program.machine(), s.plan(), threads);
    check(loop.run(watch, steps) == Ending::finished && steps == 7, "a whole loop ends");
    check(s.total[0] == s.expected(7), "a whole loop on " + std::to_string(threads) + " threads");
  }
}

inline void guarded_loop() {
  Summing s(7);
  s.x[s.order[s.starts[3]] * Summing::kWidth] = INFINITY;
  Watch watch;
  watch.begin(nullptr, nullptr);
  std::atomic<std::int64_t> steps{0};
  Loop loop(s.program.machine(), s.plan(), 2);
  check(loop.run(watch, steps) == Ending::guarded && steps <= 3, "the guard ends the loop");
  check(std::isfinite(s.total[0]) && s.total[0] == s.expected(steps), "the guard comes before what is carried");
}

// Stops after some microseconds, or by its watch: carried values are those of complete steps.
inline void stopped_loops() {
  for (int round = 0; round < 20; ++round) {
    Summing s(3000);
    Watch watch;
    std::atomic<int> asked{0};
    const Watch::Ask ask = [](void* count) { return ++*static_cast<std::atomic<int>*>(count) > 0; };
    watch.begin(round % 2 ? ask : nullptr, &asked);
    std::atomic<std::int64_t> steps{0};
    Loop loop(s.program.machine(), s.plan(), 1 + round % 3);
    std::thread other([&] {
      if (round % 2) return;
      std::this_thread::sleep_for(std::chrono::microseconds(500 * round));
      watch.stop();
    });
    const Ending ending = loop.run(watch, steps);
    other.join();
    check(ending == Ending::stopped || steps == 3000, "a stopped loop says so");
    check(s.total[0] == s.expected(steps), "a stopped loop leaves whole steps");
  }
}

inline void run() {
  for (int round = 0; round < 500; ++round) random_rows(round);
  every_half();
  sparse_rows();
  whole_loops();
  guarded_loop();
  stopped_loops();
}

}  // namespace loop_tests
