// Peak performance of this machine by number of threads: FMA flops per second, and bytes per second of a triad a = b + s c
// (12 bytes per element) over arrays of a given total size per thread.
//
//   native_peaks threads
//
// Prints lines "fma 0 GFLOP/s" and "triad bytes GB/s". The best of many short runs counts, since other load only slows.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

#ifdef __AVX512F__
constexpr std::size_t bytes = 64;
#else
constexpr std::size_t bytes = 32;
#endif
typedef float Vector __attribute__((vector_size(bytes)));
constexpr int runs = 8;
constexpr double seconds_a_run = 0.01;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// 12 independent chains of x = x a + b: enough to hide the latency of two FMA units. Returns flops.
double multiply_add(float* keep) {
  constexpr int chains = 12, steps = 100'000;
  Vector x[chains], a, b;
  for (auto& chain : x) chain = Vector{} + keep[0];
  a = Vector{} + keep[1];
  b = Vector{} + keep[2];
  for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int c = 0; c < chains; ++c) x[c] = x[c] * a + b;
  }
  for (auto& chain : x) keep[3] += chain[0];
  return 2.0 * chains * steps * (bytes / sizeof(float));
}

// a = b + s c for about seconds_a_run. Returns bytes.
double triad(std::vector<float>& arrays, float s) {
  const std::size_t n = arrays.size() / 3, times = std::max<std::size_t>(1, 6'000'000 / n);
  float* a = arrays.data();
  const float *b = a + n, *c = b + n;
  for (std::size_t time = 0; time < times; ++time) {
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + s * c[i];
    asm volatile("" : : "r"(a) : "memory");
  }
  return 12.0 * static_cast<double>(n * times);
}

// Work per second of all threads together, from a common start to the end of the last thread.
template <class Work> double best_rate(int threads, Work work) {
  double best = 0.0;
  for (int run = 0; run < runs; ++run) {
    std::atomic<int> ready{0};
    std::vector<double> amounts(threads), ends(threads), starts(threads);
    std::vector<std::thread> pool;
    for (int t = 0; t < threads; ++t) {
      pool.emplace_back([&, t] {
        work(t);  // warm
        ++ready;
        while (ready < threads) {
        }
        starts[t] = now();
        do amounts[t] += work(t);
        while (now() - starts[t] < seconds_a_run);
        ends[t] = now();
      });
    }
    for (auto& thread : pool) thread.join();
    double amount = 0.0;
    for (double one : amounts) amount += one;
    const double passed = *std::max_element(ends.begin(), ends.end()) - *std::min_element(starts.begin(), starts.end());
    best = std::max(best, amount / passed);
  }
  return best;
}

}  // namespace

int main(int count, char** words) {
  const int threads = count > 1 ? std::atoi(words[1]) : 1;
  std::vector<std::vector<float>> keep(threads, std::vector<float>(64, 0.5F));
  std::printf("fma 0 %.1f\n", 1e-9 * best_rate(threads, [&](int t) { return multiply_add(keep[t].data()); }));
  for (const std::size_t size :
       {std::size_t{24} << 10, std::size_t{384} << 10, std::size_t{8} << 20, std::size_t{96} << 20}) {
    std::vector<std::vector<float>> arrays(threads, std::vector<float>(size / sizeof(float), 1.0F));
    std::printf("triad %zu %.1f\n", size, 1e-9 * best_rate(threads, [&](int t) { return triad(arrays[t], 0.5F); }));
  }
  return keep[0][3] == 0.0F;
}
