// Runs a program: its stages in order, rows stages lane by lane and tile by tile, over one or several threads.
//
// Only the assignment of work depends on the number of threads: tiles, lanes and chunks follow from shapes. Several
// threads may run one program at the same time; each session leases an arena.
#pragma once

#include <atomic>
#include <memory>

#include "kernels/arena.h"
#include "kernels/combine.h"
#include "kernels/program.h"
#include "kernels/threads.h"
#include "kernels/watch.h"

namespace madaline::MADALINE_ISA {

struct Stage {
  bool is_rows = false;
  std::int64_t tile_rows = 1, lane_rows = 1, max_lanes = 1;
  std::vector<const Instruction*> instructions;
  std::vector<Combine> combines;
  int first_number = 0;  // number of its first instruction, for messages

  std::int64_t lanes(std::int64_t n_rows) const {
    if (!is_rows || n_rows == 0) return 0;
    return std::max<std::int64_t>(1, std::min(n_rows / lane_rows, max_lanes));
  }
};

// The error of a run; instruction is -1 if there was none.
struct Failure {
  int instruction = -1;
  std::int64_t value = 0;
};

class Machine {
 public:
  Machine(std::size_t shared_bytes, std::size_t row_bytes, std::size_t tile_bytes, std::size_t lane_bytes)
      : shared_bytes_(shared_bytes),
        row_bytes_(row_bytes),
        tile_bytes_(tile_bytes),
        lane_bytes_((lane_bytes + 63) / 64 * 64) {}

  int add_buffer(Buffer buffer) {
    buffers_.push_back(buffer);
    const int number = static_cast<int>(buffers_.size()) - 1;
    if (buffer.space == Space::input || buffer.space == Space::output) argument_buffers_.push_back(number);
    if (buffer.space == Space::lane) lane_buffers_.push_back(number);
    pool_.clear();
    return number;
  }
  void add_stage(Stage stage) {
    stage.first_number = static_cast<int>(instructions_.size());
    stages_.push_back(std::move(stage));
    pool_.clear();
  }
  void add(std::unique_ptr<Instruction> instruction) {
    if (!stages_.back().combines.empty()) invalid("The instructions of a stage come before its combines.");
    scratch_bytes_ = std::max(scratch_bytes_, instruction->scratch_bytes());
    stages_.back().instructions.push_back(instruction.get());
    instructions_.push_back(std::move(instruction));
    pool_.clear();
  }
  void add_combine(const Combine& combine) { stages_.back().combines.push_back(combine); }

  const std::vector<Buffer>& buffers() const { return buffers_; }
  const std::vector<Stage>& stages() const { return stages_; }
  int instruction_count() const { return static_cast<int>(instructions_.size()); }
  std::string failure_message(const Failure& f) const { return instructions_[f.instruction]->failure(f.value); }

  std::size_t memory(std::int64_t n_rows, int threads) const {
    return shared_bytes_ + row_bytes_ * padded(n_rows) + max_lanes(n_rows) * lane_bytes_ +
           static_cast<std::size_t>(std::max(1, threads)) * (tile_bytes_ + scratch_bytes_);
  }

  // Maximum number of threads, up to `threads`, that can work on a batch of n_rows at the same time.
  int useful_threads(std::int64_t n_rows, int threads) const {
    if (threads <= 1) return 1;
    std::int64_t most = 1;
    for (const Stage& stage : stages_) {
      const std::int64_t lanes = stage.lanes(n_rows);
      most = std::max(most, lanes);
      for (const Combine& c : stage.combines) most = std::max(most, combine_chunks(c, lanes));
      if (stage.is_rows) continue;
      for (const Instruction* i : stage.instructions) most = std::max(most, i->chunks(n_rows, threads));
    }
    return static_cast<int>(std::min<std::int64_t>(most, threads));
  }

  // inputs and outputs: addresses in the order of the buffers' offsets. May throw std::bad_alloc before running
  // anything.
  Failure run(void* const* inputs, void* const* outputs, std::int64_t n_rows, int threads) {
    Session session(*this);
    Team team(threads);
    session.prepare(inputs, outputs, n_rows, team.size());
    return session.run(0, stages_.size(), team, nullptr);
  }

  // The same on one thread; adds to seconds[i] the time of instruction i, for every instruction.
  Failure profile(void* const* inputs, void* const* outputs, std::int64_t n_rows, double* seconds) {
    Session session(*this);
    Team alone(1);
    session.prepare(inputs, outputs, n_rows, 1);
    return session.run(0, stages_.size(), alone, nullptr, seconds);
  }

 private:
  struct Run {
    Arena& arena;
    Team& team;
    std::int64_t n_rows;
    Watch* watch;     // or nullptr
    double* seconds;  // of each instruction, or nullptr
    std::atomic<bool> failed;
    Failure failure;  // written once, by the thread that set `failed`

    // Called between instructions, chunks and tiles. Only thread 0, which started the run, checks the watch.
    bool ended(int thread) {
      if (failed.load(std::memory_order_relaxed)) return true;
      if (watch == nullptr) return false;
      return thread == 0 ? watch->look() : watch->stopped();
    }

    template <class F> void timed(int instruction, F f) const {
      if (seconds == nullptr) [[likely]]
        return f();
      const Watch::Clock::time_point start = Watch::Clock::now();
      f();
      seconds[instruction] += std::chrono::duration<double>(Watch::Clock::now() - start).count();
    }

    void fail(int instruction, std::int64_t value) {
      if (!failed.exchange(true)) failure = {instruction, value};
    }
  };
  static std::size_t padded(std::int64_t n_rows) { return (static_cast<std::size_t>(n_rows) + 63) / 64 * 64; }
  std::size_t max_lanes(std::int64_t n_rows) const {
    std::int64_t n = 0;
    for (const Stage& s : stages_) n = std::max(n, s.lanes(n_rows));
    return static_cast<std::size_t>(n);
  }

  void prepare(Arena& arena, void* const* inputs, void* const* outputs, std::int64_t n_rows, int n_workers) const {
    if (arena.rows.reserve(row_bytes_ * padded(n_rows))) {
      for (auto& w : arena.workers) w->prepared_rows = -1;
    }
    if (lane_bytes_ > 0) arena.lanes.reserve(max_lanes(n_rows) * lane_bytes_);
    while (static_cast<int>(arena.workers.size()) < n_workers) {
      auto worker = std::make_unique<Worker>();
      worker->tile.reserve(tile_bytes_);
      worker->scratch.reserve(scratch_bytes_);
      worker->address.resize(buffers_.size());
      worker->frame.address = worker->address.data();
      worker->frame.scratch = worker->scratch.data();
      worker->frame.common = arena.common.data();
      arena.workers.push_back(std::move(worker));
    }
    for (int w = 0; w < n_workers; ++w) {
      Worker& worker = *arena.workers[w];
      if (worker.prepared_rows != n_rows) {
        for (std::size_t b = 0; b < buffers_.size(); ++b) {
          const Buffer& buffer = buffers_[b];
          if (buffer.space == Space::shared) worker.address[b] = arena.shared.data() + buffer.offset;
          if (buffer.space == Space::tile) worker.address[b] = worker.tile.data() + buffer.offset;
          if (buffer.space == Space::rows) worker.address[b] = arena.rows.data() + buffer.offset * padded(n_rows);
        }
        worker.prepared_rows = n_rows;
      }
      for (int b : argument_buffers_) {
        const Buffer& buffer = buffers_[b];
        worker.address[b] = static_cast<char*>((buffer.space == Space::input ? inputs : outputs)[buffer.offset]);
      }
      worker.frame.failed = false;
    }
  }

  void run_shared(Run& run, const Stage& stage) const {
    const auto set_frame = [&](Frame& f) { f.rows = run.n_rows, f.first_row = 0, f.first_tile = true; };
    Frame& mine = run.arena.workers[0]->frame;
    set_frame(mine);
    for (std::size_t k = 0; k < stage.instructions.size(); ++k) {
      const Instruction& instruction = *stage.instructions[k];
      const std::int64_t n_chunks = instruction.chunks(run.n_rows, run.team.size());
      if (n_chunks <= 1 || run.seconds != nullptr) {
        run.timed(stage.first_number + static_cast<int>(k), [&] { instruction.run(mine); });
      } else {
        run.team.share(n_chunks, [&](int thread, std::int64_t c) {
          if (run.ended(thread)) return;
          Frame& frame = run.arena.workers[thread]->frame;
          set_frame(frame);
          instruction.run_chunk(frame, c, n_chunks);
          if (frame.failed) run.fail(stage.first_number + static_cast<int>(k), frame.failure_value);
        });
        if (!run.ended(0)) instruction.finish(mine, n_chunks);  // else some chunks may be missing
      }
      if (mine.failed) run.fail(stage.first_number + static_cast<int>(k), mine.failure_value);
      if (run.ended(0)) return;
    }
  }

  void run_rows(Run& run, const Stage& stage) const {
    const std::int64_t lanes = stage.lanes(run.n_rows);
    run.team.share(lanes, [&](int thread, std::int64_t l) { run_lane(run, stage, thread, l, lanes); });
    if (!run.ended(0)) combine(run, stage, lanes);
  }

  void run_lane(Run& run, const Stage& stage, int thread, std::int64_t lane, std::int64_t lanes) const {
    Worker& worker = *run.arena.workers[thread];
    Frame& frame = worker.frame;
    char* arena = run.arena.lanes.data() + static_cast<std::size_t>(lane) * lane_bytes_;
    for (int b : lane_buffers_) worker.address[b] = arena + buffers_[b].offset;
    if (lane == 0) {
      for (const Combine& c : stage.combines) worker.address[c.lane] = worker.address[c.dst];
    }
    const Range rows = chunk_range(run.n_rows, lane, lanes);
    const std::int64_t n = rows.end - rows.begin, n_tiles = (n + stage.tile_rows - 1) / stage.tile_rows;
    for (std::int64_t t = 0; t < n_tiles; ++t) {
      const Range tile = chunk_range(n, t, n_tiles);
      frame.first_row = rows.begin + tile.begin;
      frame.rows = tile.end - tile.begin;
      frame.first_tile = t == 0;
      int number = stage.first_number;
      for (const Instruction* instruction : stage.instructions) {
        run.timed(number, [&] { instruction->run(frame); });
        if (frame.failed) [[unlikely]]
          return run.fail(number, frame.failure_value);
        ++number;
      }
      if (run.ended(thread)) return;
    }
  }

  static std::int64_t combine_chunks(const Combine& c, std::int64_t lanes) {
    return c.size * std::max<std::int64_t>(1, lanes) / (2 * kChunkElements);
  }

  void combine(Run& run, const Stage& stage, std::int64_t lanes) const {
    if (lanes == 1) return;
    for (const Combine& c : stage.combines) {
      char* const* address = run.arena.workers[0]->address.data();
      const std::int64_t n_chunks = combine_chunks(c, lanes);
      if (n_chunks <= 1 || run.team.size() == 1) {
        c.run(run.arena.lanes.data(), lane_bytes_, lanes, address, c.offset, c.offset + c.size);
        continue;
      }
      run.team.share(n_chunks, [&](int, std::int64_t k) {
        const Range r = chunk_range(c.size, k, n_chunks);
        c.run(run.arena.lanes.data(), lane_bytes_, lanes, address, c.offset + r.begin, c.offset + r.end);
      });
    }
  }

  std::size_t shared_bytes_, row_bytes_, tile_bytes_, lane_bytes_, scratch_bytes_ = 0;
  std::vector<Buffer> buffers_;
  std::vector<int> argument_buffers_, lane_buffers_;
  std::vector<std::unique_ptr<Instruction>> instructions_;
  std::vector<Stage> stages_;
  ArenaPool pool_;

 public:
  // Runs of one program after another, in one arena.
  class Session {
   public:
    explicit Session(Machine& machine) : machine_(machine), lease_(machine.pool_) {
      lease_->shared.reserve(machine.shared_bytes_);
      lease_->common.reserve(kCommonBytes);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Sets the arguments of a run. May throw std::bad_alloc, unless already prepared for as many rows and threads.
    void prepare(void* const* inputs, void* const* outputs, std::int64_t n_rows, int n_threads) {
      machine_.prepare(*lease_, inputs, outputs, n_rows, n_threads);
      n_rows_ = n_rows;
    }
    // Runs the stages [first, last). If the watch stops the run early, the results are invalid.
    Failure run(std::size_t first, std::size_t last, Team& team, Watch* watch, double* seconds = nullptr) noexcept {
      Run run{*lease_, team, n_rows_, watch, seconds, {}, {}};
      for (std::size_t s = first; s < last && !run.failed.load(std::memory_order_relaxed); ++s) {
        const Stage& stage = machine_.stages_[s];
        if (stage.is_rows) machine_.run_rows(run, stage);
        else machine_.run_shared(run, stage);
        if (watch != nullptr && watch->stopped()) break;
      }
      return run.failure;
    }

   private:
    Machine& machine_;
    ArenaPool::Lease lease_;
    std::int64_t n_rows_ = 0;
  };
};

}  // namespace madaline::MADALINE_ISA
