// What a page calls: programs that run in its memory, and random numbers. JavaScript sees addresses as numbers.
#include <cstdlib>
#include <numeric>

#include "kernels/loop.h"
#include "wasm/random.h"
#include "wasm/reader.h"

#define EXPORT(name) extern "C" __attribute__((export_name(#name))) auto name

using namespace madaline;
using namespace madaline::MADALINE_ISA;

namespace {

using int64 = std::int64_t;

// Reads the arguments of a loop: numbers and addresses, as many as each part says.
class LoopReader {
 public:
  explicit LoopReader(const int64* at) : at_(at) {}

  void read(const Checks& program) {
    plan.order = address<const int64>();
    plan.starts = address<const int64>();
    plan.n_steps = next();
    plan.commit = static_cast<std::size_t>(next());
    plan.guard = static_cast<int>(next());
    if (plan.commit > program.machine().stages().size() || plan.guard >= static_cast<int>(program.outputs().size()))
      invalid("The program has fewer stages or outputs than the page expects. Build the page again.");
    if (plan.guard >= 0) plan.guard_dtype = program.outputs()[static_cast<std::size_t>(plan.guard)].dtype;
    arguments(plan.inputs, program.inputs().size());
    arguments(plan.outputs, program.outputs().size());
    for (int64 left = next(); left > 0; --left) {
      const int input = static_cast<int>(next());
      const char* rows = address<const char>();
      const DType dtype = program.inputs().at(static_cast<std::size_t>(input)).dtype;
      const int64 n_rows = next(), width = next(), item = size_of(dtype);
      const Number number = dtype == DType::f32 ? Number::f32 : dtype == DType::f64 ? Number::f64 : Number::i64;
      sources_.push_back(
          std::make_unique<DenseRows>(ArrayLayout{rows, number, item, {n_rows, width}, {width * item, item}}, dtype));
      plan.gathered.push_back({input, sources_.back().get()});
    }
    for (int64 left = next(); left > 0; --left) {
      const int input = static_cast<int>(next());
      const int64 coefficient = next(), offset = next();
      plan.row_counts.push_back(
          {input, coefficient, offset, program.inputs().at(static_cast<std::size_t>(input)).dtype});
    }
  }
  LoopPlan plan;

 private:
  int64 next() { return *at_++; }
  template <class T> T* address() { return reinterpret_cast<T*>(static_cast<std::uintptr_t>(next())); }
  void arguments(std::vector<Argument>& to, std::size_t count) {
    if (static_cast<std::size_t>(next()) != count)
      invalid("The program has other arguments than the page expects. Build the page again.");
    for (std::size_t i = 0; i < count; ++i) {
      char* base = address<char>();
      const int64 per_step = next();
      to.push_back({base, per_step, next()});
    }
  }
  const int64* at_;
  std::vector<std::unique_ptr<RowSource>> sources_;
};

Generator generator;

}  // namespace

// ---- programs -------------------------------------------------------------------------------------------------------

EXPORT(program_load)(const char* data, std::size_t size)->Builder* { return read_program(data, size).release(); }

EXPORT(program_free)(Builder* program)->void { delete program; }

// Runs a program once for each batch (native/FORMAT.md, Loops). Returns the number of complete steps, as -1 - steps if
// the guard was not finite. The arguments are
//   order, starts, number of steps, commit, guard,
//   count of inputs, (address, bytes per step, bytes per row) for each; the same for outputs;
//   count of gathered inputs, (input, address, rows, width) for each;
//   count of row counts, (input, coefficient, offset) for each.
EXPORT(program_run)(Builder* program, const int64* arguments)->double {
  LoopReader reader(arguments);
  reader.read(*program);
  Loop loop(program->machine(), reader.plan, 1);
  Watch watch;
  watch.begin(nullptr, nullptr);
  std::atomic<int64> steps{0};
  const Ending ending = loop.run(watch, steps);
  if (ending == Ending::failed) invalid(program->machine().failure_message(loop.failure()));
  const double done = static_cast<double>(steps.load());
  return ending == Ending::guarded ? -1 - done : done;
}

// ---- random numbers -------------------------------------------------------------------------------------------------

EXPORT(seed_text)(const char* json, std::size_t size)->void {
  if (size > 128) invalid("A text that seeds random numbers is too long.");
  generator = Generator::of_text(json, size);
}
EXPORT(seed_numbers)(const std::uint32_t* entropy, std::size_t n)->void {
  generator = Generator(seed_words(entropy, n));
}
EXPORT(seed_state)(const std::uint64_t* state)->void { generator = Generator(state); }

EXPORT(draw_uniform)(double* to, std::size_t n)->void {
  for (std::size_t i = 0; i < n; ++i) to[i] = generator.uniform();
}
EXPORT(draw_normal)(double* to, std::size_t n)->void {
  for (std::size_t i = 0; i < n; ++i) to[i] = generator.normal();
}
EXPORT(draw_below)(double* to, std::size_t n, std::uint32_t last)->void {
  for (std::size_t i = 0; i < n; ++i) to[i] = generator.below(last);
}
EXPORT(draw_order)(int64* to, std::size_t n)->void {
  std::iota(to, to + n, int64{0});
  generator.shuffle(to, static_cast<int64>(n));
}

// ---- memory ---------------------------------------------------------------------------------------------------------

EXPORT(allocate)(std::size_t bytes)->void* { return std::aligned_alloc(64, (bytes + 127) / 64 * 64); }
EXPORT(release)(void* memory)->void { std::free(memory); }
