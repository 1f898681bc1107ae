// GFLOP/s of kernels/matmul.h on the shapes of multilayer perceptrons, compared with the BLAS libraries named on the
// command line.
//
//   native_matmul [--threads] [--double] [--only text] name=library.so:symbol ...
//
// symbol is the library's sgemm (dgemm with --double), Fortran interface, 32-bit integers: e.g. scipy_sgemm_ in the
// OpenBLAS of SciPy's wheel, or sgemm_ in PyTorch's libtorch_cpu.so, which is MKL. Start it with
// OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1. All contestants are timed alternately in many rounds, on
// the same arrays; the best round counts, since other load can only slow it down.
#include "kernels/matmul.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace madaline::MADALINE_ISA;

namespace {

struct Shape {
  const char* what;
  std::size_t m, n, k;
  char kind;  // f: X W, b: dY W^T (B transposed), g: X^T dY (A transposed, accumulated)
};

const Shape shapes[] = {
    {"tiny forward", 32, 32, 32, 'f'},
    {"tiny dX", 32, 32, 32, 'b'},
    {"tiny dW", 32, 32, 32, 'g'},
    {"tiny first layer", 32, 32, 2, 'f'},
    {"tiny first dW", 2, 32, 32, 'g'},
    {"tiny output", 32, 2, 32, 'f'},
    {"tiny output dX", 32, 32, 2, 'b'},
    {"tiny output dW", 32, 2, 32, 'g'},
    {"small forward", 32, 64, 64, 'f'},
    {"small dX", 32, 64, 64, 'b'},
    {"small dW", 64, 64, 32, 'g'},
    {"small first layer", 32, 64, 20, 'f'},
    {"small first dW", 20, 64, 32, 'g'},
    {"small output", 32, 2, 64, 'f'},
    {"small output dX", 32, 64, 2, 'b'},
    {"small output dW", 64, 2, 32, 'g'},
    {"regression output", 32, 1, 64, 'f'},
    {"deep forward", 100, 32, 32, 'f'},
    {"deep dX", 100, 32, 32, 'b'},
    {"deep dW", 32, 32, 100, 'g'},
    {"100x64x64", 100, 64, 64, 'f'},
    {"online forward", 1, 64, 64, 'f'},
    {"online first layer", 1, 64, 20, 'f'},
    {"online dX", 1, 64, 64, 'b'},
    {"online dW", 64, 64, 1, 'g'},
    {"one row of mnist", 1, 256, 784, 'f'},
    {"tabular first layer", 256, 256, 54, 'f'},
    {"tabular first dW", 54, 256, 256, 'g'},
    {"tabular forward", 256, 256, 256, 'f'},
    {"tabular dX", 256, 256, 256, 'b'},
    {"tabular dW", 256, 256, 256, 'g'},
    {"tabular output", 256, 7, 256, 'f'},
    {"tabular output dX", 256, 256, 7, 'b'},
    {"tabular output dW", 256, 7, 256, 'g'},
    {"tabular tile of 32", 32, 256, 256, 'f'},
    {"tabular tile of 64", 64, 256, 256, 'f'},
    {"its dX", 64, 256, 256, 'b'},
    {"its dW", 256, 256, 64, 'g'},
    {"mnist forward", 128, 256, 784, 'f'},
    {"mnist dW", 784, 256, 128, 'g'},
    {"mnist middle", 128, 128, 256, 'f'},
    {"mnist middle dX", 128, 256, 128, 'b'},
    {"mnist output", 128, 10, 128, 'f'},
    {"mnist output dX", 128, 128, 10, 'b'},
    {"mnist output dW", 128, 10, 128, 'g'},
    {"256x10x128", 256, 10, 128, 'f'},
    {"dropout_paper forward", 128, 1024, 1024, 'f'},
    {"dropout_paper dX", 128, 1024, 1024, 'b'},
    {"dropout_paper dW", 1024, 1024, 128, 'g'},
    {"wide output", 1024, 10, 2048, 'f'},
    {"wide output dX", 1024, 2048, 10, 'b'},
    {"wide output dW", 2048, 10, 1024, 'g'},
    {"wide forward", 1024, 2048, 2048, 'f'},
    {"wide dX", 1024, 2048, 2048, 'b'},
    {"wide dW", 2048, 2048, 1024, 'g'},
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The last two: lengths of the first two arguments, as Fortran passes them.
template <class T>
using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                      const T*, const int*, const T*, T*, const int*, std::size_t, std::size_t);

// A page-aligned array, so that the alignment of arrays does not affect the comparison.
template <class T> T* array(std::size_t n) {
  T* p = static_cast<T*>(std::aligned_alloc(4096, (n * sizeof(T) + 4095) / 4096 * 4096 + 4096));
  std::mt19937 rng(1);
  for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(rng));
  return p;
}

template <class T>
void run(const std::vector<std::pair<std::string, Gemm<T>>>& peers, const std::string& only, bool threads) {
  std::printf("%-22s %5s %5s %5s  %9s", "", "m", "n", "k", "madaline");
  for (const auto& [name, _] : peers) std::printf(" %9s", name.c_str());
  if (threads) std::printf(" %9s", "2 threads");
  std::printf("   ratio to the best peer\n");
  for (const Shape& s : shapes) {
    if (std::string(s.what).find(only) == std::string::npos) continue;
    const auto [what, m, n, k, kind] = s;
    T *A = array<T>(m * k), *B = array<T>(k * n), *C = array<T>(m * n),
      *workspace = array<T>(2 * matmul_workspace<T>(m, n, k));
    const auto M = static_cast<std::ptrdiff_t>(m), N = static_cast<std::ptrdiff_t>(n),
               K = static_cast<std::ptrdiff_t>(k);
    const bool at = kind == 'g', bt = kind == 'b';
    const std::ptrdiff_t a_m = at ? 1 : K, a_k = at ? M : 1, b_k = bt ? 1 : N, b_n = bt ? K : 1;
    const auto ours = [&](std::size_t first, std::size_t count, T* space) {
      matmul<T>(count, n, k, A + static_cast<std::ptrdiff_t>(first) * a_m, a_m, a_k, B, b_k, b_n, C + first * n, N, at,
                {}, space);
    };
    std::vector<std::function<void()>> contestants{[&] { ours(0, m, workspace); }};
    for (const auto& [_, gemm] : peers)
      contestants.push_back([&, gemm = gemm] {
        // Fortran's columns are our rows: C^T = B^T A^T.
        const int rows = static_cast<int>(n), cols = static_cast<int>(m), depth = static_cast<int>(k);
        const int ldb = bt ? depth : rows, lda = at ? cols : depth;
        const T one(1), beta(at ? 1 : 0);
        gemm(bt ? "T" : "N", at ? "T" : "N", &rows, &cols, &depth, &one, B, &ldb, A, &lda, &beta, C, &rows, 1, 1);
      });
    const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const int calls = std::max(1, static_cast<int>(4e6 / (flops + 3e3)));
    const int rounds = flops > 1e9 ? 7 : 40;
    const int turns = std::max(calls, static_cast<int>(4e8 / flops));
    if (threads)  // a thread costs tens of microseconds to start, so each runs its half many times over
      contestants.push_back([&] {
        const std::size_t half = m / 2, size = matmul_workspace<T>(m, n, k);
        std::thread other([&] {
          for (int turn = 0; turn < turns; ++turn) ours(half, m - half, workspace + size);
        });
        for (int turn = 0; turn < turns; ++turn) ours(0, half, workspace);
        other.join();
      });
    std::vector<double> best(contestants.size(), 1e30);
    for (int round = 0; round < rounds; ++round)
      for (std::size_t c = 0; c < contestants.size(); ++c) {
        const bool whole = threads && c + 1 == contestants.size();
        std::memset(C, 0, m * n * sizeof(T));
        if (!whole) contestants[c]();
        const double start = now();
        for (int call = 0; call < (whole ? 1 : calls); ++call) contestants[c]();
        best[c] = std::min(best[c], (now() - start) / (whole ? turns : calls));
      }
    std::printf("%-22s %5zu %5zu %5zu ", what, m, n, k);
    double rival = 0;
    for (std::size_t c = 0; c < best.size(); ++c) {
      std::printf(" %9.1f", flops / best[c] * 1e-9);
      if (c > 0 && c <= peers.size()) rival = std::max(rival, flops / best[c] * 1e-9);
    }
    if (rival > 0) std::printf("   %.2f", flops / best[0] * 1e-9 / rival);
    std::printf("\n");
    std::fflush(stdout);
    for (T* p : {A, B, C, workspace}) std::free(p);
  }
}

template <class T> int start(const std::vector<std::string>& specs, const std::string& only, bool threads) {
  std::vector<std::pair<std::string, Gemm<T>>> peers;
  for (const std::string& spec : specs) {
    const std::size_t equals = spec.find('='), colon = spec.rfind(':');
    if (equals == std::string::npos || colon == std::string::npos || colon < equals) {
      std::fprintf(stderr, "'%s' is not name=library.so:symbol.\n", spec.c_str());
      return 2;
    }
    void* library = dlopen(spec.substr(equals + 1, colon - equals - 1).c_str(), RTLD_NOW | RTLD_LOCAL);
    void* symbol = library ? dlsym(library, spec.substr(colon + 1).c_str()) : nullptr;
    if (!symbol) {
      std::fprintf(stderr, "%s: %s\n", spec.c_str(), dlerror());
      return 2;
    }
    peers.emplace_back(spec.substr(0, equals), reinterpret_cast<Gemm<T>>(symbol));
  }
  run<T>(peers, only, threads);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> specs;
  std::string only;
  bool threads = false, doubles = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--threads") threads = true;
    else if (arg == "--double") doubles = true;
    else if (arg == "--only" && i + 1 < argc) only = argv[++i];
    else specs.push_back(arg);
  }
  return doubles ? start<double>(specs, only, threads) : start<float>(specs, only, threads);
}
