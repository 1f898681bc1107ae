// Compares kernels/matmul.h with a triple loop in long double. Prints the number of passed checks; exits with 1 if any
// failed.
#include "kernels/matmul.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

using namespace madaline::MADALINE_ISA;

namespace {

int passed = 0, failed = 0;

template <class... Args> void check(bool ok, const char* format, Args... args) {
  ok ? ++passed : ++failed;
  if (ok || failed > 20) return;
  std::printf("FAILED: ");
  std::printf(format, args...);
  std::printf("\n");
}

// Exactly sized and aligned, so that the address sanitizer detects an access to the first element beyond.
template <class T> struct Workspace {
  explicit Workspace(std::size_t n)
      : data(static_cast<T*>(std::aligned_alloc(64, (n * sizeof(T) + 127) / 64 * 64))), size(n) {
    const std::size_t spare = (n * sizeof(T) + 127) / 64 * 64 / sizeof(T) - n;
    for (std::size_t i = 0; i < n; ++i) data[i] = std::is_integral_v<T> ? T(77) : std::numeric_limits<T>::quiet_NaN();
    for (std::size_t i = 0; i < spare; ++i) data[n + i] = T(123);
    guard = spare;
  }
  ~Workspace() { std::free(data); }
  bool intact() const {
    for (std::size_t i = 0; i < guard; ++i)
      if (data[size + i] != T(123)) return false;
    return true;
  }
  T* data;
  std::size_t size, guard = 0;
};

enum class Layout { rows, transposed, general, reversed };

// A matrix of exactly the elements its strides reach.
template <class T> struct Matrix {
  std::vector<T> storage;
  std::ptrdiff_t row, col, first = 0;
  const T* data() const { return storage.data() + first; }
  T at(std::size_t i, std::size_t j) const {
    return data()[static_cast<std::ptrdiff_t>(i) * row + static_cast<std::ptrdiff_t>(j) * col];
  }
};

template <class T> T random_value(std::mt19937& rng) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(rng() % 41) - 20;
  else return static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(rng));
}

template <class T> Matrix<T> random_matrix(std::size_t m, std::size_t n, Layout layout, std::mt19937& rng) {
  Matrix<T> r;
  const auto rows = static_cast<std::ptrdiff_t>(m), cols = static_cast<std::ptrdiff_t>(n);
  const std::ptrdiff_t padding = static_cast<std::ptrdiff_t>(rng() % 3);
  if (layout == Layout::rows || layout == Layout::reversed) r.row = cols + padding, r.col = 1;
  else if (layout == Layout::transposed) r.row = 1, r.col = rows + padding;
  else r.row = 2 * cols + 1 + padding, r.col = 2;
  const std::ptrdiff_t last = m && n ? (rows - 1) * r.row + (cols - 1) * r.col : -1;
  r.storage.resize(static_cast<std::size_t>(last + 1));
  for (T& x : r.storage) x = random_value<T>(rng);
  if (layout == Layout::reversed && last >= 0) r.first = last, r.row = -r.row, r.col = -r.col;
  return r;
}

struct Panels {
  std::size_t next = 0;
  bool in_order = true;
  static void record(void* context, std::size_t first, std::size_t count) {
    auto* p = static_cast<Panels*>(context);
    p->in_order &= first == p->next && count > 0;
    p->next = first + count;
  }
};

struct Case {
  std::size_t m, n, k;
  Layout a, b;
  bool accumulate, relu;
  int bias;  // 0: none, 1: a row, 2: one value
  bool gate;
};

template <class T> void check_case(const Case& c, std::mt19937& rng) {
  const auto [m, n, k, la, lb, accumulate, relu, bias_kind, gated] = c;
  const Matrix<T> A = random_matrix<T>(m, k, la, rng), B = random_matrix<T>(k, n, lb, rng);
  const std::size_t gap = rng() % 4, ldc = n + gap;
  std::vector<T> C(m ? (m - 1) * ldc + n : 0), bias(bias_kind == 2 ? 1 : n);
  for (T& x : C) x = random_value<T>(rng);
  for (T& x : bias) x = random_value<T>(rng);
  const std::vector<T> before = C;
  const std::size_t gate_row = n + rng() % 4;
  std::vector<T> gate(m * gate_row);
  for (T& x : gate) x = rng() % 8 == 0 ? T(0) : random_value<T>(rng);
  Workspace<T> workspace(matmul_workspace<T>(m, n, k));
  Panels panels;
  Epilogue<T> epilogue;
  if (bias_kind) epilogue.bias = bias.data(), epilogue.bias_stride = bias_kind == 2 ? 0 : 1;
  epilogue.relu = relu;
  if (gated) epilogue.gate = gate.data(), epilogue.gate_stride = static_cast<std::ptrdiff_t>(gate_row);
  epilogue.after_panel = &Panels::record;
  epilogue.context = &panels;
  matmul(m, n, k, A.data(), A.row, A.col, B.data(), B.row, B.col, C.data(), static_cast<std::ptrdiff_t>(ldc),
         accumulate, epilogue, workspace.data);

  bool ok = true;
  double worst = 0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      long double sum = 0, magnitude = 0;
      const auto add = [&](long double x) { sum += x, magnitude += std::fabs(x); };
      for (std::size_t p = 0; p < k; ++p)
        add(static_cast<long double>(A.at(i, p)) * static_cast<long double>(B.at(p, j)));
      if (accumulate) add(static_cast<long double>(before[i * ldc + j]));
      if (bias_kind) add(static_cast<long double>(bias[bias_kind == 2 ? 0 : j]));
      if (relu && sum < 0) sum = 0;
      if (gated && !(gate[i * gate_row + j] > T(0))) sum = magnitude = 0;
      const long double bound = std::is_integral_v<T>
                                    ? 0.0L
                                    : static_cast<long double>(k + 2) *
                                          static_cast<long double>(std::numeric_limits<T>::epsilon()) * magnitude;
      const long double error = std::fabs(static_cast<long double>(C[i * ldc + j]) - sum);
      if (!(error <= bound)) ok = false, worst = std::max(worst, static_cast<double>(error));
    }
    for (std::size_t j = n; j < ldc && i * ldc + j < C.size(); ++j) ok &= C[i * ldc + j] == before[i * ldc + j];
  }
  check(ok, "m=%zu n=%zu k=%zu layouts %d %d accumulate %d relu %d bias %d gate %d, %zu bytes: error %g", m, n, k,
        static_cast<int>(la), static_cast<int>(lb), accumulate, relu, bias_kind, gated, sizeof(T), worst);
  check(panels.in_order && panels.next == m, "panels of m=%zu n=%zu k=%zu layouts %d %d", m, n, k, static_cast<int>(la),
        static_cast<int>(lb));
  check(workspace.intact(), "workspace of m=%zu n=%zu k=%zu layouts %d %d", m, n, k, static_cast<int>(la),
        static_cast<int>(lb));
}

template <class T> void check_samples(int samples) {
  std::mt19937 rng(7);
  const std::size_t sizes[] = {0, 1, 2, 3, 5, 6, 7, 8, 13, 16, 17, 31, 32, 33, 64, 100, 129};
  const auto pick = [&] { return sizes[rng() % std::size(sizes)]; };
  for (int s = 0; s < samples; ++s)
    check_case<T>(
        {pick(), pick(), pick(), static_cast<Layout>(rng() % 4), static_cast<Layout>(rng() % 4), rng() % 2 == 0,
         rng() % 2 == 0, static_cast<int>(rng() % 3), std::is_floating_point_v<T> && rng() % 2 == 0},
        rng);
  // Each algorithm with several blocks of k, m and n.
  const std::size_t large[][3] = {{200, 70, 700}, {30, 1100, 50}, {7, 2100, 330},  {1, 600, 700},  {2, 600, 700},
                                  {150, 7, 700},  {150, 3, 700},  {2100, 10, 330}, {300, 300, 700}};
  for (const auto& [m, n, k] : large)
    for (const Layout a : {Layout::rows, Layout::transposed, Layout::general})
      for (const Layout b : {Layout::rows, Layout::transposed, Layout::general})
        check_case<T>({m, n, k, a, b, true, true, 1, std::is_floating_point_v<T>}, rng);
}

// A row has the same bits alone and together with others: with unit b_n for any n, and with B transposed for more than
// three rows.
template <class T> void check_rows_are_independent() {
  std::mt19937 rng(3);
  for (const std::size_t n : {1, 2, 3, 4, 5, 7, 10, 16, 33, 64, 130})
    for (const std::size_t k : {1, 7, 64, 400}) {
      const std::size_t m = 37;
      const Matrix<T> A = random_matrix<T>(m, k, Layout::rows, rng), B = random_matrix<T>(k, n, Layout::rows, rng);
      Workspace<T> workspace(matmul_workspace<T>(m, n, k));
      std::vector<T> all(m * n), some(m * n);
      const auto ld = static_cast<std::ptrdiff_t>(n);
      matmul<T>(m, n, k, A.data(), A.row, A.col, B.data(), B.row, B.col, all.data(), ld, false, {}, workspace.data);
      for (std::size_t rows : {1, 2, 5, 11})
        for (std::size_t i = 0; i < m; i += rows) {
          Workspace<T> own(matmul_workspace<T>(rows, n, k));
          matmul<T>(std::min(rows, m - i), n, k, A.data() + static_cast<std::ptrdiff_t>(i) * A.row, A.row, A.col,
                    B.data(), B.row, B.col, some.data() + i * n, ld, false, {}, own.data);
          check(std::memcmp(&some[i * n], &all[i * n], std::min(rows, m - i) * n * sizeof(T)) == 0,
                "bits of rows %zu.. in panels of %zu, n=%zu k=%zu", i, rows, n, k);
        }
    }
}

// Blocks of C that are computed separately have the bits of the whole product, for at least 4 rows and 17 columns.
template <class T> void check_cuts() {
  std::mt19937 rng(11);
  const std::size_t m = 131, n = 300;
  for (const std::size_t k : {1, 30, 150, 700})
    for (const Layout a : {Layout::rows, Layout::transposed, Layout::general})
      for (const Layout b : {Layout::rows, Layout::transposed, Layout::general}) {
        const Matrix<T> A = random_matrix<T>(m, k, a, rng), B = random_matrix<T>(k, n, b, rng);
        Workspace<T> workspace(matmul_workspace<T>(m, n, k));
        std::vector<T> whole(m * n), blocks(m * n);
        const auto ld = static_cast<std::ptrdiff_t>(n);
        matmul<T>(m, n, k, A.data(), A.row, A.col, B.data(), B.row, B.col, whole.data(), ld, false, {}, workspace.data);
        const std::size_t row_cuts[] = {0, 4, 28, 100, m}, col_cuts[] = {0, 17, 81, 209, n};
        for (int r = 0; r < 4; ++r)
          for (int c = 0; c < 4; ++c) {
            const std::size_t i = row_cuts[r], j = col_cuts[c];
            matmul<T>(row_cuts[r + 1] - i, col_cuts[c + 1] - j, k, A.data() + static_cast<std::ptrdiff_t>(i) * A.row,
                      A.row, A.col, B.data() + static_cast<std::ptrdiff_t>(j) * B.col, B.row, B.col,
                      blocks.data() + i * n + j, ld, false, {}, workspace.data);
          }
        check(std::memcmp(whole.data(), blocks.data(), m * n * sizeof(T)) == 0, "bits of blocks, k=%zu layouts %d %d",
              k, static_cast<int>(a), static_cast<int>(b));
      }
}

// The bits do not depend on the alignment of any operand.
template <class T> void check_alignment() {
  std::mt19937 rng(5);
  for (const auto& [m, n, k] :
       {std::array<std::size_t, 3>{32, 32, 32}, {40, 7, 64}, {40, 3, 64}, {1, 64, 20}, {64, 100, 90}}) {
    std::vector<T> a(m * k + 16), b(k * n + 16), first(m * n);
    for (T& x : a) x = random_value<T>(rng);
    for (T& x : b) x = random_value<T>(rng);
    const std::vector<T> a0 = a, b0 = b;
    Workspace<T> workspace(matmul_workspace<T>(m, n, k));
    for (std::size_t shift = 0; shift < 16; shift += 3) {
      std::copy(a0.begin(), a0.begin() + static_cast<std::ptrdiff_t>(m * k),
                a.begin() + static_cast<std::ptrdiff_t>(shift));
      std::copy(b0.begin(), b0.begin() + static_cast<std::ptrdiff_t>(k * n),
                b.begin() + static_cast<std::ptrdiff_t>(shift));
      std::vector<T> c(m * n + 16);
      matmul<T>(m, n, k, a.data() + shift, static_cast<std::ptrdiff_t>(k), 1, b.data() + shift,
                static_cast<std::ptrdiff_t>(n), 1, c.data() + shift, static_cast<std::ptrdiff_t>(n), false, {},
                workspace.data);
      if (shift == 0) std::copy(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(m * n), first.begin());
      check(std::memcmp(first.data(), c.data() + shift, m * n * sizeof(T)) == 0, "bits at shift %zu, m=%zu n=%zu k=%zu",
            shift, m, n, k);
    }
  }
}

template <class T> void check_special_values() {
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const std::size_t n : {1, 3, 7, 16, 40})
    for (const std::size_t m : {1, 5, 20})
      for (const bool transposed : {false, true})
        for (const bool a_transposed : {false, true}) {
          const std::size_t k = 9;
          std::vector<T> A(m * k, T(1)), B(k * n, T(-1)), C(m * n);
          Workspace<T> workspace(matmul_workspace<T>(m, n, k));
          const auto a_m = static_cast<std::ptrdiff_t>(a_transposed ? 1 : k),
                     a_k = static_cast<std::ptrdiff_t>(a_transposed ? m : 1);
          const auto b_k = static_cast<std::ptrdiff_t>(transposed ? 1 : n),
                     b_n = static_cast<std::ptrdiff_t>(transposed ? k : 1);
          A[static_cast<std::size_t>(4 * a_k)] = nan;
          if (m > 1) A[static_cast<std::size_t>(a_m + 8 * a_k)] = -inf;
          Epilogue<T> epilogue;
          epilogue.relu = true;
          matmul<T>(m, n, k, A.data(), a_m, a_k, B.data(), b_k, b_n, C.data(), static_cast<std::ptrdiff_t>(n), false,
                    epilogue, workspace.data);
          bool ok = true;
          for (std::size_t j = 0; j < n; ++j)
            ok &= std::isnan(C[j]) && (m == 1 || C[n + j] == inf) && (m <= 2 || C[2 * n + j] == T(0));
          check(ok, "NaN, inf and relu, m=%zu n=%zu", m, n);
        }
}

}  // namespace

int main(int argc, char** argv) {
  const int samples = argc > 1 ? std::atoi(argv[1]) : 3000;
  check_samples<float>(samples);
  check_samples<double>(samples);
  check_samples<std::int64_t>(samples / 4);
  check_rows_are_independent<float>();
  check_rows_are_independent<double>();
  check_cuts<float>();
  check_cuts<double>();
  check_alignment<float>();
  check_alignment<double>();
  check_special_values<float>();
  check_special_values<double>();
  check(matmul_workspace<float>(1 << 20, 1 << 20, 1 << 20) * sizeof(float) < 1500000, "workspace of float");
  check(matmul_workspace<double>(1 << 20, 1 << 20, 1 << 20) * sizeof(double) < 1500000, "workspace of double");
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
