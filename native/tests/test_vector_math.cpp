// Accuracy of kernels/vector_math.h and of the vector type, compared with libm in the next wider type.
//
//   test_vector_math [--exhaustive] [--time] [name ...]
//
// --exhaustive takes all 2^32 floats instead of every 1021st; --time measures ns per element on a block in L1; names
// select functions. Errors are in units in the last place of the true result; a correctly rounded one counts as 0.
#include "kernels/vector_math.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace madaline::MADALINE_ISA;

bool exhaustive = false, timing = false;
std::vector<std::string> selected;
int passed = 0, failed = 0;

void report(bool ok, const char* what, const char* type, const char* detail = "") {
  std::printf("%s %-10s %s %s\n", ok ? "PASS" : "FAIL", what, type, detail);
  std::fflush(stdout);
  ++(ok ? passed : failed);
}

template <class T> constexpr const char* type_name = sizeof(T) == 4 ? "f32" : "f64";

template <class F, class T> void map(F f, const T* x, T* y, std::size_t n) {
  constexpr std::size_t width = Vec<T>::width;
  std::size_t i = 0;
  for (; i + width <= n; i += width) f(Vec<T>::load(x + i)).store(y + i);
  if (i < n) f(Vec<T>::load_partial(x + i, static_cast<int>(n - i))).store_partial(y + i, static_cast<int>(n - i));
}

template <class T> bool same(T a, T b) { return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b)); }

// |y - truth| in units in the last place of T; infinite if a limit, a NaN or a sign is wrong.
template <class T, class R> double ulps(T y, R truth) {
  const T rounded = static_cast<T>(truth);
  if (same(y, rounded)) return 0;
  if (y != y || rounded != rounded || std::isinf(y) || std::isinf(rounded) || std::signbit(y) != std::signbit(rounded))
    return std::numeric_limits<double>::infinity();
  const int lowest = std::numeric_limits<T>::min_exponent - 1;
  const int exponent = truth == 0 ? lowest : std::max(std::ilogb(truth), lowest);
  return static_cast<double>(std::fabs(y - truth) / std::ldexp(R(1), exponent - std::numeric_limits<T>::digits + 1));
}

template <class R> R true_sigmoid(R x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
template <class R> R true_softplus(R x) { return (x < 0 ? R(0) : x) + std::log1p(std::exp(-std::fabs(x))); }

// Where functions change formula, overflow or underflow.
// clang-format off
constexpr double kEdges[] = {
    0.25, 0.5, 0.625, 0.7071067811865476, 0.875, 1.0, 1.4142135623730951, 1.5707963267948966, 2.0, 3.0,
    3.141592653589793, 3.95, 9.0, 10.0, 17.0, 18.0, 20.0, 24.0, 44.0, 87.33, 88.0, 88.72283, 89.0, 100.0,
    103.97, 104.0, 126.0, 127.0, 128.0, 149.0, 150.0, 708.4, 709.78, 710.0, 745.1, 746.0, 1000.0, 1022.0,
    1023.0, 1024.0, 1074.0, 1075.0, 8192.0, 65536.0, 16777216.0, 1e10, 1e30,
};
// clang-format on

// Both signs of the edges and their neighbours, of limits, and of every power of two.
template <class T> std::vector<T> special_values() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {0, L::infinity(), L::quiet_NaN(), L::denorm_min(), L::min(), L::max(), L::epsilon()};
  for (double v : kEdges)
    for (T x : {std::nextafter(T(v), T(0)), T(v), std::nextafter(T(v), T(1e38))}) values.push_back(x);
  for (int e = L::min_exponent - L::digits; e < L::max_exponent; ++e) values.push_back(std::ldexp(T(1), e));
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) values.push_back(-values[i]);
  return values;
}

template <class T> struct Worst {
  double error = 0;
  T x = 0, y = 0;
  std::uint64_t points = 0;

  template <class F, class R> void take(F f, R truth, const std::vector<T>& xs) {
    static std::vector<T> ys;
    ys.resize(xs.size());
    map(f, xs.data(), ys.data(), xs.size());
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const double e = ulps(ys[i], truth(xs[i]));
      if (e > error) *this = {e, xs[i], ys[i], points};
    }
    points += xs.size();
  }
};

template <class T> void report_worst(const char* name, const Worst<T>& worst, double limit) {
  char detail[160];
  std::snprintf(detail, sizeof detail, "max %.3f ulp (limit %.1f) at x = %.9g (%a) gives %.9g, %.3g points",
                worst.error, limit, double(worst.x), double(worst.x), double(worst.y), double(worst.points));
  report(worst.error <= limit, name, type_name<T>, detail);
}

template <class F, class R> void test_floats(const char* name, F f, R truth, double limit) {
  Worst<float> worst;
  worst.take(f, truth, special_values<float>());
  const std::uint64_t stride = exhaustive ? 1 : 1021, block = 4096;
  std::vector<float> xs(block);
  for (std::uint64_t start = 0; start < 1ull << 32; start += block * stride) {
    for (std::uint64_t i = 0; i < block; ++i)
      xs[i] = std::bit_cast<float>(static_cast<std::uint32_t>(start + i * stride));
    worst.take(f, truth, xs);
  }
  report_worst(name, worst, limit);
}

template <class F, class R> void test_doubles(const char* name, F f, R truth, double limit) {
  Worst<double> worst;
  worst.take(f, truth, special_values<double>());
  std::mt19937_64 random(1960);
  std::vector<double> xs(4096);
  for (double range : {0.01, 1.0, 4.0, 40.0, 800.0, 1e5}) {
    std::uniform_real_distribution<double> uniform(-range, range);
    for (int repeat = 0; repeat < 25; ++repeat) {
      for (double& x : xs) x = uniform(random);
      worst.take(f, truth, xs);
    }
  }
  for (int repeat = 0; repeat < 50; ++repeat) {
    for (double& x : xs) x = std::bit_cast<double>(random());
    worst.take(f, truth, xs);
  }
  report_worst(name, worst, limit);
}

// Each value alone in a partial vector, and at every position of a full one.
template <class T, class F> void test_lanes(const char* name, F f) {
  bool ok = true;
  for (T x : special_values<T>()) {
    const std::size_t width = Vec<T>::width;
    T alone, y[Vec<T>::width];
    map(f, &x, &alone, 1);
    for (std::size_t lane = 0; lane < width; ++lane) {
      T xs[Vec<T>::width];
      for (std::size_t i = 0; i < width; ++i) xs[i] = i == lane ? x : T(0.3) * T(i + 1);
      map(f, xs, y, width);
      ok = ok && same(alone, y[lane]);
    }
  }
  if (!ok) report(false, name, type_name<T>, "depends on the place in the vector");
}

template <class T, class F> void measure(const char* name, F f) {
  constexpr int n = 1024, repeats = 200;
  alignas(64) static T x[n], y[n];
  for (int i = 0; i < n; ++i) x[i] = T(0.001) + T(8) * T((i * 607) % n) / n;
  double best = 1e30;
  for (int trial = 0; trial < 20; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) {
      map(f, x, y, n);
      asm volatile("" ::: "memory");
    }
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count() / (double(n) * repeats));
  }
  std::printf("TIME %-10s %s %.2f ns per element\n", name, type_name<T>, best);
}

// `truth` is called with double for float and with long double for double.
template <class F, class R> void test(const char* name, F f, R truth, double limit_float, double limit_double) {
  if (!selected.empty() && std::find(selected.begin(), selected.end(), name) == selected.end()) return;
  if (timing) {
    measure<float>(name, f);
    measure<double>(name, f);
    return;
  }
  test_floats(name, f, [&](float x) { return truth(static_cast<double>(x)); }, limit_float);
  test_doubles(name, f, [&](double x) { return truth(static_cast<long double>(x)); }, limit_double);
  test_lanes<float>(name, f);
  test_lanes<double>(name, f);
}

template <class T> void test_vectors() {
  constexpr int width = Vec<T>::width;
  const std::vector<T> values = special_values<T>();
  bool rounding = true, ordering = true;
  for (T x : values) {
    const Vec<T> v(x);
    rounding = rounding && same(floor(v)[0], std::floor(x)) && same(ceil(v)[0], std::ceil(x)) &&
               same(trunc(v)[0], std::trunc(x)) && same(rint(v)[0], std::nearbyint(x)) && same(abs(v)[0], std::fabs(x));
    for (T offset : {T(0.25), T(0.5), T(0.75)})
      rounding = rounding && same(rint(v + offset)[0], std::nearbyint(x + offset)) &&
                 same(floor(v + offset)[0], std::floor(x + offset)) && same(ceil(v + offset)[0], std::ceil(x + offset));
    for (T y : {T(0), T(-0.0), T(1), T(-3), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
      const Vec<T> w(y);
      ordering = ordering && same(maximum(v, w)[0], x >= y || x != x ? x : y) &&
                 same(minimum(v, w)[0], x <= y || x != x ? x : y) && same(copysign(v, w)[0], std::copysign(x, y)) &&
                 any(v < w) == (x < y) && all(v != w) == (x != y) && same(select(v <= w, v, w)[0], x <= y ? x : y);
    }
  }
  report(rounding, "rounding", type_name<T>);
  report(ordering, "ordering", type_name<T>);

  bool tails = true;
  for (int n = 0; n <= width; ++n) {
    std::vector<T> x(n), y(n);  // exactly n, so that the address sanitizer sees one element more
    for (int i = 0; i < n; ++i) x[i] = T(i + 1);
    const Vec<T> v = Vec<T>::load_partial(x.data(), n);
    v.store_partial(y.data(), n);
    for (int i = 0; i < width; ++i) tails = tails && v[i] == (i < n ? T(i + 1) : T(0)) && (i >= n || y[i] == x[i]);
  }
  report(tails, "tails", type_name<T>);

  const Vec<T> lanes = iota<T>();
  report(horizontal_sum(lanes) == T(width * (width - 1) / 2) && horizontal_max(lanes) == T(width - 1) &&
             horizontal_min(lanes) == T(0) && std::isnan(horizontal_max(select(lanes == T(1), T(NAN), lanes))),
         "folds", type_name<T>);
  report(to_int(Vec<T>(T(-2.75)))[0] == -2 && to_float<T>(Vec<BitsOf<T>>(-7))[0] == T(-7) &&
             from_bits<T>(bits(Vec<T>(T(1.5))))[0] == T(1.5),
         "conversion", type_name<T>);
}

template <class T> void test_binary() {
  const Vec<T> zero(T(0)), half(T(0.5)), minus_one(T(-1)), two(T(2)), ten(T(10));
  report(same(Power{}(two, ten)[0], T(1024)) && same(Power{}(minus_one, half)[0], T(NAN)) &&
             same(Power{}(zero, zero)[0], T(1)),
         "power", type_name<T>);
  report(same(Arctan2{}(zero, minus_one)[0], std::atan2(T(0), T(-1))) &&
             same(Arctan2{}(two, ten)[0], std::atan2(T(2), T(10))),
         "arctan2", type_name<T>);
}

#define LIBM(function) [](auto x) { return std::function(x); }

void test_functions() {
  test("exp", Exp{}, LIBM(exp), 2, 4);
  test("exp2", Exp2{}, LIBM(exp2), 2, 4);
  test("expm1", Expm1{}, LIBM(expm1), 2, 4);
  test("log", Log{}, LIBM(log), 2, 4);
  test("log1p", Log1p{}, LIBM(log1p), 2, 4);
  test("log2", Log2{}, LIBM(log2), 3, 4);
  test("log10", Log10{}, LIBM(log10), 3, 4);
  test("tanh", Tanh{}, LIBM(tanh), 2, 4);
  test("sigmoid", Sigmoid{}, [](auto x) { return true_sigmoid(x); }, 2, 4);
  test("softplus", Softplus{}, [](auto x) { return true_softplus(x); }, 2, 4);
  test("erf", Erf{}, LIBM(erf), 2, 4);
  test("sin", Sin{}, LIBM(sin), 2, 4);
  test("cos", Cos{}, LIBM(cos), 2, 4);
  if (exhaustive && selected.empty()) return;  // the rest is libm itself
  test("tan", Tan{}, LIBM(tan), 4, 4);
  test("sinh", Sinh{}, LIBM(sinh), 4, 4);
  test("cosh", Cosh{}, LIBM(cosh), 4, 4);
  test("arcsin", Arcsin{}, LIBM(asin), 4, 4);
  test("arccos", Arccos{}, LIBM(acos), 4, 4);
  test("arctan", Arctan{}, LIBM(atan), 4, 4);
  test("arcsinh", Arcsinh{}, LIBM(asinh), 4, 4);
  test("arccosh", Arccosh{}, LIBM(acosh), 4, 4);
  test("arctanh", Arctanh{}, LIBM(atanh), 4, 4);
  test("cbrt", Cbrt{}, LIBM(cbrt), 4, 4);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--exhaustive") == 0) exhaustive = true;
    else if (std::strcmp(argv[i], "--time") == 0) timing = true;
    else selected.push_back(argv[i]);
  }
  if (selected.empty() && !timing) {
    test_vectors<float>();
    test_vectors<double>();
    test_binary<float>();
    test_binary<double>();
  }
  test_functions();
  if (!timing) std::printf("%d passed, %d failed\n", passed, failed);
  return failed ? 1 : 0;
}
