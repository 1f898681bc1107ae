// Compares programs with plain loops: random chains and reductions over random shapes and strides, every opcode on
// exactly sized memory, rows stages on one to four threads, several concurrent runs. Meant for the sanitizers; values
// are compared with NumPy in tests/kernels/test_core_*.py.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "checks.h"
#include "kernels/builder.h"
#include "test_loop.h"

using namespace madaline::MADALINE_ISA;

namespace {

float number() { return std::normal_distribution<float>()(rng); }

constexpr int kInput = 0, kOutput = 1, kTile = 4, kLane = 5, kRows = 3;
constexpr int kF32 = 0, kF64 = 1, kI64 = 2, kBool = 3;

// A strided view of random memory that is exactly as large as the view needs.
struct View {
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0, size = 1;

  // broadcast: some strides may be 0.
  static View random(const std::vector<Dim>& dims, bool broadcast) {
    const int n = static_cast<int>(dims.size());
    std::vector<int> order(n);
    for (int d = 0; d < n; ++d) order[d] = n - 1 - d;
    if (pick(0, 2) == 0) std::shuffle(order.begin(), order.end(), rng);
    View v;
    v.strides.assign(n, 0);
    std::int64_t next = pick(0, 3) == 0 ? 2 : 1;
    for (int d : order) {
      if (broadcast && pick(0, 2) == 0) continue;
      v.strides[d] = next;
      next *= dims[d].coefficient + (pick(0, 4) == 0);
      if (!dims[d].is_rows && pick(0, 4) == 0) {
        v.offset += (dims[d].coefficient - 1) * v.strides[d];
        v.strides[d] = -v.strides[d];
      }
    }
    std::int64_t last = v.offset;
    for (int d = 0; d < n; ++d) {
      if (v.strides[d] > 0) last += (dims[d].coefficient - 1) * v.strides[d];
    }
    v.size = last + 1;
    return v;
  }
  std::int64_t at(const std::vector<std::int64_t>& index) const {
    std::int64_t i = offset;
    for (std::size_t d = 0; d < index.size(); ++d) i += index[d] * strides[d];
    return i;
  }
};

std::vector<Dim> random_dims(int most) {
  std::vector<Dim> dims(pick(0, most));
  for (Dim& d : dims) d = {pick(0, 3) == 0 ? pick(1, 700) : pick(1, 9), false};
  while (element_count(dims, 1) > 200000) dims.pop_back();
  return dims;
}

// f(index) for every index of dims.
template <class F> void each(const std::vector<Dim>& dims, F f) {
  std::vector<std::int64_t> index(dims.size(), 0);
  if (element_count(dims, 1) == 0) return;
  for (;;) {
    f(index);
    int d = static_cast<int>(dims.size()) - 1;
    for (; d >= 0; --d) {
      if (++index[d] < dims[d].coefficient) break;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

Operand operand(int buffer, const View& v) { return {buffer, v.offset, 0, v.strides}; }

// y = (a + b) * a with views of any kind, against a loop over indices.
void random_chain(int round) {
  const std::vector<Dim> dims = random_dims(4);
  const View va = View::random(dims, true), vb = View::random(dims, true), vy = View::random(dims, false);
  std::vector<float> a(va.size), y(vy.size, 0.0f), expected(vy.size, 0.0f);
  std::vector<double> b(vb.size);
  for (float& x : a) x = number();
  for (double& x : b) x = number();
  Builder p(0, 0, 0, 0);
  const int A = p.buffer(kInput, kF32, 0), B = p.buffer(kInput, kF64, 1), Y = p.buffer(kOutput, kF32, 0);
  p.shared_stage();
  ElementwiseSpec s;
  s.dims = dims;
  s.operands = {operand(A, va), operand(B, vb), operand(Y, vy)};
  s.n_scratch = 1;
  s.ops = {{opcode("add"), 3, 0, 1, -1}, {opcode("multiply"), 2, 3, 0, -1}};
  p.add(s);
  each(dims, [&](const auto& i) {
    const float x = a[va.at(i)];
    expected[vy.at(i)] = (x + static_cast<float>(b[vb.at(i)])) * x;
  });
  void* inputs[] = {a.data(), b.data()};
  void* outputs[] = {y.data()};
  p.machine().run(inputs, outputs, 1, 1 + round % 3);
  check(y == expected, "random chain " + std::to_string(round));
}

void random_copy(int round) {
  const std::vector<Dim> dims = random_dims(4);
  const View vx = View::random(dims, true), vy = View::random(dims, false);
  std::vector<std::int64_t> x(vx.size), y(vy.size, 0), expected(vy.size, 0);
  for (auto& v : x) v = pick(-1000, 1000);
  Builder p(0, 0, 0, 0);
  const int X = p.buffer(kInput, kI64, 0), Y = p.buffer(kOutput, kI64, 0);
  p.shared_stage();
  ElementwiseSpec s;
  s.dtype = DType::i64;
  s.dims = dims;
  s.operands = {operand(X, vx), operand(Y, vy)};
  s.ops = {{opcode("copy"), 1, 0}};
  p.add(s);
  each(dims, [&](const auto& i) { expected[vy.at(i)] = x[vx.at(i)]; });
  void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  p.machine().run(inputs, outputs, 1, 1 + round % 3);
  check(y == expected, "random copy " + std::to_string(round));
}

void random_reduce(int round) {
  std::vector<Dim> keep = random_dims(2), reduce = random_dims(2), all = keep;
  all.insert(all.end(), reduce.begin(), reduce.end());
  if (element_count(all, 1) > 300000) return;
  const View vx = View::random(all, false), vy = View::random(keep, false);
  const auto op = static_cast<Reduction>(pick(0, 5));
  std::vector<float> x(vx.size);
  for (float& v : x) v = number() * (op == Reduction::prod ? 0.01f : 1.0f) + (op == Reduction::prod ? 1.0f : 0.0f);
  std::vector<float> y(vy.size, 0.0f);
  std::vector<std::int64_t> index(vy.size, 0);
  Builder p(0, 0, 0, 0);
  const bool arg = op == Reduction::argmax;
  const int X = p.buffer(kInput, kF32, 0), Y = p.buffer(kOutput, arg ? kI64 : kF32, 0);
  p.shared_stage();
  p.add(ReduceSpec{op, DType::f32, keep, reduce, operand(X, vx), operand(Y, vy), false});
  void* inputs[] = {x.data()};
  void* outputs[] = {arg ? static_cast<void*>(index.data()) : y.data()};
  p.machine().run(inputs, outputs, 1, 1 + round % 3);
  bool ok = true;
  each(keep, [&](const auto& k) {
    double sum = 0, prod = 1, top = -INFINITY, low = INFINITY, exps = 0;
    std::int64_t count = 0, best = 0;
    each(reduce, [&](const auto& r) {
      std::vector<std::int64_t> i = k;
      i.insert(i.end(), r.begin(), r.end());
      const double v = x[vx.at(i)];
      sum += v, prod *= v, exps += std::exp(v), low = std::min(low, v);
      if (v > top) top = v, best = count;
      ++count;
    });
    const double values[] = {sum, prod, top, low, std::log(exps), 0};
    if (arg) ok = ok && index[vy.at(k)] == best;
    else {
      const double got = y[vy.at(k)], want = values[static_cast<int>(op)];
      ok = ok &&
           std::abs(got - want) <= 1e-5 * std::abs(want) + 1e-4 + (op == Reduction::prod ? 1e-3 * std::abs(want) : 0);
    }
  });
  check(ok, std::string("random ") + kReductionNames[static_cast<int>(op)] + " " + std::to_string(round));
}

// Nothing is accessed beyond the arrays, for any size: checked by the address sanitizer.
void every_opcode() {
  const std::size_t items[] = {4, 8, 8, 1};
  for (int op = 0; op < kOpcodeCount; ++op) {
    for (int dtype : {kF32, kF64, kI64, kBool}) {
      for (int n : {0, 1, 3, 8, 17, 1000}) {
        Builder p(0, 0, 0, 0);
        p.shared_stage();
        const OpcodeInfo& info = kOpcodes[op];
        ElementwiseSpec s;
        s.dtype = static_cast<DType>(dtype);
        s.dims = {{n, false}};
        std::vector<std::unique_ptr<char[]>> memory;
        std::vector<void*> inputs;
        std::vector<int> op_numbers{op, info.n_args};
        for (int k = 0; k < info.n_args; ++k) {
          const bool scalar = k >= info.n_args - info.n_scalars;
          const std::size_t bytes = items[dtype] * static_cast<std::size_t>(scalar ? 1 : n);
          memory.push_back(std::make_unique<char[]>(bytes));
          std::memset(memory.back().get(), dtype == kBool ? 1 : 0x3f, bytes);
          inputs.push_back(memory.back().get());
          s.operands.push_back({p.buffer(kInput, dtype, k), 0, 0, {scalar ? 0 : 1}});
          op_numbers.push_back(k);
        }
        memory.push_back(std::make_unique<char[]>(items[dtype] * static_cast<std::size_t>(n)));
        void* outputs[] = {memory.back().get()};
        s.operands.push_back({p.buffer(kOutput, dtype, 0), 0, 0, {1}});
        s.ops = {op_numbers};
        try {
          p.add(s);
        } catch (const std::invalid_argument& e) {
          check(dtype >= kI64 && std::string(e.what()).find("does not exist for") != std::string::npos, e.what());
          continue;
        }
        check(p.machine().run(inputs.data(), outputs, 1, 1).instruction == -1, info.name);
      }
    }
  }
}

// A layer with its gradient in a rows stage: tile, lane and rows buffers, accumulation, combines, take and random.
struct Step {
  static constexpr int n_in = 13, n_out = 21;
  Builder p;
  explicit Step(std::int64_t tile_rows) : p(0, 4 * n_out, 64 * ((4 * n_out * tile_rows + 63) / 64), 1344) {
    const int X = p.buffer(kInput, kF32, 0), W = p.buffer(kInput, kF32, 1), order = p.buffer(kInput, kI64, 2);
    const int H = p.buffer(kOutput, kF32, 0), DW = p.buffer(kOutput, kF32, 1), U = p.buffer(kOutput, kF64, 2),
              S = p.buffer(kOutput, kF32, 3);
    const int h = p.buffer(kTile, kF32, 0), rows = p.buffer(kRows, kF32, 0), dW = p.buffer(kLane, kF32, 0),
              s = p.buffer(kLane, kF32, 1152);
    const Dim R{1, true}, in{n_in, false}, out{n_out, false};
    p.rows_stage(tile_rows, 8, 5);
    ProductSpec forward;
    forward.m = R, forward.n = out, forward.k = in;
    forward.A = {X, 0, n_in, {n_in, 1}}, forward.B = {W, 0, 0, {n_out, 1}}, forward.C = {h, 0, 0, {n_out, 1}};
    forward.relu = true;
    ElementwiseSpec& chain = forward.epilogue.emplace();
    chain.dims = {R, out};
    chain.operands = {{h, 0, 0, {n_out, 1}}, {rows, 0, n_out, {n_out, 1}}};
    chain.constants = {0.5};
    chain.ops = {{opcode("multiply"), 1, 0, 2}};
    p.add(forward);
    ProductSpec backward;
    backward.m = in, backward.n = out, backward.k = R;
    backward.A = {X, 0, n_in, {1, n_in}}, backward.B = {rows, 0, n_out, {n_out, 1}},
    backward.C = {dW, 0, 0, {n_out, 1}};
    backward.accumulate = true;
    p.add(backward);
    p.add(ReduceSpec{Reduction::sum, DType::f32, {out}, {R}, {rows, 0, n_out, {1, n_out}}, {s, 0, 0, {1}}, true});
    p.add(RandomSpec{DType::f64, {R, {5, false}}, {U, 0, 5, {5, 1}}, {order, 0, 0, {1}}, 3});
    p.combine(0, kF32, dW, DW, n_in * n_out);
    p.combine(0, kF32, s, S, n_out);
    p.shared_stage();
    p.add(TakeSpec{{DType::f32,
                    {1, false},
                    R,
                    out,
                    R,
                    {rows, 0, 0, {0, n_out, 1}},
                    {order, 0, 0, {0, 1}},
                    {H, 0, 0, {0, n_out, 1}}}});
  }
  struct Results {
    std::vector<float> H, DW, S;
    std::vector<double> U;
    bool operator==(const Results&) const = default;
  };
  Results run(const std::vector<float>& X, const std::vector<float>& W, std::vector<std::int64_t> order, int threads) {
    const std::size_t n = order.size();
    Results r{std::vector<float>(n * n_out), std::vector<float>(n_in * n_out), std::vector<float>(n_out),
              std::vector<double>(n * 5)};
    void* inputs[] = {const_cast<float*>(X.data()), const_cast<float*>(W.data()), order.data()};
    void* outputs[] = {r.H.data(), r.DW.data(), r.U.data(), r.S.data()};
    check(p.machine().run(inputs, outputs, static_cast<std::int64_t>(n), threads).instruction == -1, "step fails");
    return r;
  }
};

void rows_stages() {
  std::vector<float> W(Step::n_in * Step::n_out);
  for (float& w : W) w = number();
  for (std::int64_t tile_rows : {1, 7, 16, 64}) {
    Step step(tile_rows);
    std::vector<std::thread> threads;
    for (int n : {2, 5, 64, 333}) {
      std::vector<float> X(static_cast<std::size_t>(n) * Step::n_in);
      for (float& x : X) x = number();
      std::vector<std::int64_t> order(n);
      for (int i = 0; i < n; ++i) order[i] = n - 1 - i;
      const Step::Results first = step.run(X, W, order, 1);
      bool ok = true;
      std::vector<double> DW(Step::n_in * Step::n_out, 0.0), S(Step::n_out, 0.0);
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < Step::n_out; ++j) {
          double h = 0;
          for (int k = 0; k < Step::n_in; ++k) h += double(X[i * Step::n_in + k]) * W[k * Step::n_out + j];
          h = 0.5 * std::max(h, 0.0);
          S[j] += h;
          for (int k = 0; k < Step::n_in; ++k) DW[k * Step::n_out + j] += X[i * Step::n_in + k] * h;
          ok = ok && std::abs(first.H[(n - 1 - i) * Step::n_out + j] - h) < 1e-4;
        }
      }
      for (std::size_t i = 0; i < DW.size(); ++i) ok = ok && std::abs(first.DW[i] - DW[i]) < 1e-2;
      for (int j = 0; j < Step::n_out; ++j) ok = ok && std::abs(first.S[j] - S[j]) < 1e-2;
      check(ok, "step of " + std::to_string(n) + " rows in tiles of " + std::to_string(tile_rows));
      for (int t : {2, 3, 4}) check(step.run(X, W, order, t) == first, "bits change with the threads");
      // Concurrent runs: each has its own arena, and one of them has the thread pool.
      for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&step, &W, X, order, first, t] {
          for (int k = 0; k < 5; ++k) {
            if (!(step.run(X, W, order, 1 + t) == first)) std::abort();
          }
        });
      }
    }
    for (std::thread& t : threads) t.join();
    std::vector<float> X(3 * Step::n_in);
    std::vector<std::int64_t> bad{0, 3, 1};
    std::vector<float> H(3 * Step::n_out), DW(Step::n_in * Step::n_out), S(Step::n_out);
    std::vector<double> U(15);
    void* inputs[] = {X.data(), W.data(), bad.data()};
    void* outputs[] = {H.data(), DW.data(), U.data(), S.data()};
    const Failure failure = step.p.machine().run(inputs, outputs, 3, 2);
    check(failure.instruction == 4 && failure.value == 3, "an index out of range is not reported");
  }
}

void large_products() {
  for (int m : {64, 700}) {
    const int n = 300, k = 200;
    std::vector<double> A(static_cast<std::size_t>(m) * k), B(static_cast<std::size_t>(k) * n),
        C(static_cast<std::size_t>(m) * n), first;
    for (double& a : A) a = pick(-9, 9);
    for (double& b : B) b = pick(-9, 9);
    for (int threads : {1, 2, 3, 4}) {
      Builder p(0, 0, 0, 0);
      const int a = p.buffer(kInput, kF64, 0), b = p.buffer(kInput, kF64, 1), c = p.buffer(kOutput, kF64, 0);
      p.shared_stage();
      ProductSpec s;
      s.dtype = DType::f64;
      s.m = {m, false}, s.n = {n, false}, s.k = {k, false};
      s.A = {a, 0, 0, {k, 1}}, s.B = {b, 0, 0, {n, 1}}, s.C = {c, 0, 0, {n, 1}};
      p.add(s);
      void* inputs[] = {A.data(), B.data()};
      void* outputs[] = {C.data()};
      p.machine().run(inputs, outputs, 1, threads);
      if (first.empty()) first = C;
      double want = 0;
      for (int q = 0; q < k; ++q)
        want += A[static_cast<std::size_t>(m - 1) * k + q] * B[static_cast<std::size_t>(q) * n + n - 1];
      check(C == first && C.back() == want, "product of " + std::to_string(m) + " rows");
    }
  }
}

// More arenas of 48 MiB than may be kept: the oldest are freed, and their programs can still run again.
void idle_arenas() {
  const std::int64_t n = 6 << 20;
  std::vector<std::unique_ptr<Builder>> programs;
  std::vector<double> y(1), x{1.5};
  const auto run = [&](Builder& p) {
    void *inputs[] = {x.data()}, *outputs[] = {y.data()};
    y[0] = 0;
    p.machine().run(inputs, outputs, 1, 1);
    return y[0] == 1.5;
  };
  for (int i = 0; i < 6; ++i) {
    programs.push_back(std::make_unique<Builder>(8 * n, 0, 0, 0));
    Builder& p = *programs.back();
    const int in = p.buffer(kInput, kF64, 0), out = p.buffer(kOutput, kF64, 0), middle = p.buffer(2, kF64, 0);
    p.shared_stage();
    const std::vector<std::vector<int>> copy{{opcode("copy"), 1, 0}};
    p.add(ElementwiseSpec{DType::f64, {{n, false}}, {{in, 0, 0, {0}}, {middle, 0, 0, {1}}}, {}, 0, copy});
    p.add(ElementwiseSpec{DType::f64, {{1, false}}, {{middle, n - 1, 0, {1}}, {out, 0, 0, {1}}}, {}, 0, copy});
    check(run(p), "a run in a new arena");
    check(IdleArenas::instance().bytes() <= kIdleBytes, "idle arenas exceed what may be kept");
  }
  for (auto& p : programs) check(run(*p) && run(*p), "a run after its arena was freed");
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 6; ++k) {
        std::vector<double> mine(1);
        void *inputs[] = {x.data()}, *outputs[] = {mine.data()};
        programs[(t + k) % 6]->machine().run(inputs, outputs, 1, 1);
        if (mine[0] != 1.5) std::abort();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  check(IdleArenas::instance().bytes() <= kIdleBytes, "idle arenas exceed what may be kept after runs at once");
  programs.clear();
  check(IdleArenas::instance().bytes() < (std::size_t(1) << 20), "a program leaves its arenas behind");
}

}  // namespace

int main() {
  for (int round = 0; round < 400; ++round) random_chain(round), random_copy(round), random_reduce(round);
  every_opcode();
  rows_stages();
  large_products();
  idle_arenas();
  loop_tests::run();
  std::printf("%d passed, %d failed\n", passed.load(), failed.load());
  return failed > 0;
}
