// Runs a program step after step over batches of rows, without leaving native code.
//
// Values carried from step to step are outputs with the address of an input: the last stages of the program write them.
// In step k the batch is the rows order[starts[k]] ... order[starts[k + 1] - 1]; rows are gathered, and arguments with
// a stride advance. A running loop does not allocate, does not wait for idle threads, and does not wake any if there is
// work for one thread only.
#pragma once

#include <cmath>
#include <optional>

#include "kernels/machine.h"
#include "kernels/source.h"

namespace madaline::MADALINE_ISA {

// An argument in step k begins at  base + k * per_step + starts[k] * per_row  bytes.
struct Argument {
  char* base = nullptr;
  std::int64_t per_step = 0, per_row = 0;
};
// The rows of an input.
struct Gathered {
  int input;
  const RowSource* source;
};
// An input that is the number of rows: coefficient * n_rows + offset.
struct RowCount {
  int input;
  std::int64_t coefficient, offset;
  DType dtype;
};

struct LoopPlan {
  std::vector<Argument> inputs, outputs;
  std::vector<Gathered> gathered;
  std::vector<RowCount> row_counts;
  std::size_t commit = 0;  // the first stage that writes carried values; a step can be abandoned before it
  int guard = -1;          // an output with one float, which must be finite; otherwise the loop ends before commit
  DType guard_dtype = DType::f32;
  const std::int64_t* order = nullptr;
  const std::int64_t* starts = nullptr;
  std::int64_t n_steps = 0;
};

// `unreadable`: a file that rows are mapped to has become too short.
enum class Ending { finished, stopped, guarded, failed, unreadable };

class Loop {
 public:
  // May throw std::bad_alloc.
  Loop(Machine& machine, LoopPlan plan, int threads)
      : machine_(machine), session_(machine), plan_(std::move(plan)), max_threads_(threads) {
    std::int64_t max_rows = 0;
    int most_threads = 1;
    for (std::int64_t k = 0; k < plan_.n_steps; ++k) {
      if (k > 0 && rows_of(k) == rows_of(k - 1)) continue;
      max_rows = std::max(max_rows, rows_of(k));
      most_threads = std::max(most_threads, threads_for(rows_of(k)));
    }
    for (const Argument& a : plan_.inputs) inputs_.push_back(a.base);
    for (const Argument& a : plan_.outputs) outputs_.push_back(a.base);
    for (const Gathered& g : plan_.gathered) {
      Memory& memory = staging_.emplace_back();
      memory.reserve(std::max<std::size_t>(64, static_cast<std::size_t>(max_rows * g.source->row_bytes())));
    }
    counts_.resize(plan_.row_counts.size());
    for (std::size_t i = 0; i < counts_.size(); ++i) inputs_[plan_.row_counts[i].input] = &counts_[i];
    session_.prepare(inputs_.data(), outputs_.data(), max_rows, most_threads);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // `steps` counts complete steps; however the loop ends, carried values are those of the last complete step.
  Ending run(Watch& watch, std::atomic<std::int64_t>& steps) noexcept {
    Ending ending = Ending::finished;
    Pace pace(watch);
    std::optional<BusErrors> bus_errors;
    for (const Gathered& g : plan_.gathered)
      if (g.source->is_mapped() && !bus_errors) bus_errors.emplace();
    for (std::int64_t k = 0; k < plan_.n_steps; ++k) {
      const std::int64_t n_rows = rows_of(k);
      if (n_rows != n_rows_) change_rows(n_rows, pace);
      move_arguments(k);
      Team team(threads_);
      if (!gather(team, plan_.order + plan_.starts[k], n_rows)) {
        ending = Ending::unreadable;
        break;
      }
      if (k + 1 < plan_.n_steps)
        for (const Gathered& g : plan_.gathered) g.source->prefetch(plan_.order + plan_.starts[k + 1], rows_of(k + 1));
      session_.prepare(inputs_.data(), outputs_.data(), n_rows, team.size());
      failure_ = session_.run(0, plan_.commit, team, pace.watch());
      if (failure_.instruction >= 0) ending = Ending::failed;
      else if (watch.stopped()) ending = Ending::stopped;
      else if (!is_guard_finite()) ending = Ending::guarded;
      if (ending != Ending::finished) break;
      session_.run(plan_.commit, machine_.stages().size(), team, nullptr);
      steps.store(k + 1, std::memory_order_relaxed);
      if (pace.step_ended() && k + 1 < plan_.n_steps) {
        ending = Ending::stopped;
        break;
      }
    }
    return ending;
  }
  const Failure& failure() const { return failure_; }

 private:
  // When to check the watch: after and during every step if steps are long, else after several steps.
  class Pace {
   public:
    explicit Pace(Watch& watch) : watch_(watch), before_(Watch::Clock::now()) {}
    Watch* watch() const { return long_steps_ ? &watch_ : nullptr; }
    void expect_long_steps() { long_steps_ = true, stride_ = left_ = 1; }
    bool step_ended() {
      if (--left_ > 0) return watch_.stopped();
      const Watch::Clock::time_point now = Watch::Clock::now();
      const auto step = (now - before_) / stride_;
      long_steps_ = step > std::chrono::milliseconds(5);
      stride_ = left_ = step < std::chrono::microseconds(100) ? 16 : 1;
      before_ = now;
      return watch_.look(now);
    }

   private:
    Watch& watch_;
    Watch::Clock::time_point before_;
    bool long_steps_ = true;
    int stride_ = 1, left_ = 1;
  };

  // Below this many bytes, gathering on one thread is faster than waking others.
  static constexpr std::int64_t kGatherBytes = 1 << 17;

  std::int64_t rows_of(std::int64_t k) const { return plan_.starts[k + 1] - plan_.starts[k]; }

  std::int64_t gathered_pieces(std::int64_t n_rows) const {
    std::int64_t bytes = 0;
    for (const Gathered& g : plan_.gathered) bytes += n_rows * g.source->row_bytes();
    return std::min(std::max<std::int64_t>(1, bytes / kGatherBytes), std::max<std::int64_t>(1, n_rows));
  }
  int threads_for(std::int64_t n_rows) const {
    const std::int64_t useful =
        std::max<std::int64_t>(machine_.useful_threads(n_rows, max_threads_), gathered_pieces(n_rows));
    return static_cast<int>(std::min<std::int64_t>(useful, max_threads_));
  }

  void change_rows(std::int64_t n_rows, Pace& pace) {
    if (n_rows > n_rows_) pace.expect_long_steps();
    n_rows_ = n_rows;
    pieces_ = gathered_pieces(n_rows);
    threads_ = threads_for(n_rows);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const RowCount& c = plan_.row_counts[i];
      const std::int64_t n = c.coefficient * n_rows + c.offset;
      if (c.dtype == DType::f32) counts_[i].f32 = static_cast<float>(n);
      else if (c.dtype == DType::f64) counts_[i].f64 = static_cast<double>(n);
      else counts_[i].i64 = n;
    }
  }

  void move_arguments(std::int64_t k) {
    const auto move = [&](const std::vector<Argument>& arguments, std::vector<void*>& at) {
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Argument& a = arguments[i];
        if ((a.per_step | a.per_row) != 0) at[i] = a.base + k * a.per_step + plan_.starts[k] * a.per_row;
      }
    };
    move(plan_.inputs, inputs_);
    move(plan_.outputs, outputs_);
  }

  // False if rows of a mapped file cannot be read.
  bool gather(Team& team, const std::int64_t* rows, std::int64_t n) {
    bool any = false;
    for (std::size_t i = 0; i < plan_.gathered.size(); ++i) {
      const Gathered& g = plan_.gathered[i];
      char* there = n > 0 ? g.source->in_place(rows, n) : nullptr;
      inputs_[g.input] = there != nullptr ? there : staging_[i].data();
      any |= there == nullptr;
    }
    if (!any) return true;
    std::atomic<bool> is_read{true};
    const auto take = [&](std::int64_t begin, std::int64_t end) {
      for (const Gathered& g : plan_.gathered) {
        const std::size_t i = static_cast<std::size_t>(&g - plan_.gathered.data());
        char* const to = staging_[i].data();
        if (inputs_[g.input] != to) continue;
        if (!g.source->take(rows + begin, end - begin, to + begin * g.source->row_bytes()))
          is_read.store(false, std::memory_order_relaxed);
      }
    };
    if (team.size() == 1) {
      take(0, n);
    } else {
      team.share(pieces_, [&](int, std::int64_t c) {
        const Range r = chunk_range(n, c, pieces_);
        take(r.begin, r.end);
      });
    }
    return is_read.load(std::memory_order_relaxed);
  }

  bool is_guard_finite() const {
    if (plan_.guard < 0) return true;
    const void* at = outputs_[plan_.guard];
    return plan_.guard_dtype == DType::f32 ? std::isfinite(*static_cast<const float*>(at))
                                           : std::isfinite(*static_cast<const double*>(at));
  }

  union Count {
    float f32;
    double f64;
    std::int64_t i64;
  };

  Machine& machine_;
  Machine::Session session_;
  LoopPlan plan_;
  int max_threads_, threads_ = 1;
  std::vector<void*> inputs_, outputs_;
  std::vector<Memory> staging_;
  std::vector<Count> counts_;
  std::int64_t n_rows_ = -1, pieces_ = 1;
  Failure failure_;
};

}  // namespace madaline::MADALINE_ISA
