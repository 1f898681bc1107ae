// A pool of threads that wait by spinning, then by sleeping.
//
//   Team team(n_threads);                                        // takes the pool if it is free; else team.size() is 1
//   team.share(n_pieces, [&](int thread, std::int64_t piece) {}) // every piece once, by the first free thread
//
// A step of a small net lasts a few microseconds, so starting work on another core must cost about one: workers spin
// for some tens of microseconds after their last task before they go to sleep. The caller does not wait for workers
// that have not started (decision 0009): on a machine with other load this may take long, and the caller does their
// pieces meanwhile. Only one team exists at a time: a second caller runs alone on its own thread, because two teams on
// the same cores would slow each other down.
//
// The pool survives fork: the child, which does not have the workers of its parent, forgets them and starts new ones
// when it needs them. Tasks must not throw and must not fork.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#define MADALINE_POSIX 1
#include <pthread.h>
#include <signal.h>
#endif

#include "kernels/simd.h"

namespace madaline::MADALINE_ISA {

#if defined(__wasm__)

// Pages have one thread: others would need headers that static servers do not send.
class Team {
 public:
  explicit Team(int) {}
  int size() const { return 1; }
  template <class F> void share(std::int64_t n_pieces, F f) {
    for (std::int64_t piece = 0; piece < n_pieces; ++piece) f(0, piece);
  }
};

#else

// Number of CPUs that this process may use, from its affinity mask if there is one.
inline int usable_cpus() {
#if defined(__linux__)
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return CPU_COUNT(&mask);
#endif
  const unsigned n = std::thread::hardware_concurrency();
  return n > 0 ? static_cast<int>(n) : 1;
}

// Tells the core that this is a spin loop, so that it leaves resources to its hyper-thread sibling.
MADALINE_INLINE void spin_pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb" ::: "memory");
#endif
}

// Waits for is_done() for some tens of microseconds, first by spinning, then by yielding; returns whether it is done.
// `crowded`: there are more threads than CPUs, so the thread that is waited for may need this CPU.
template <class F> bool spin_until(bool crowded, F is_done) {
  using Clock = std::chrono::steady_clock;
  constexpr auto polite_after = std::chrono::microseconds(5), give_up_after = std::chrono::microseconds(50);
  // Most waits end within these iterations, so the clock is only read after them.
  for (int turn = 0; turn < 64 && !crowded; ++turn, spin_pause())
    if (is_done()) return true;
  const Clock::time_point start = Clock::now();
  for (Clock::duration waited{}; waited < give_up_after; waited = Clock::now() - start) {
    // Yields even if not crowded: another process may be waiting for this CPU.
    if (crowded || waited > polite_after) std::this_thread::yield();
    for (int turn = 0; turn < 16; ++turn, spin_pause())
      if (is_done()) return true;
  }
  return false;
}

// A number that threads wait on until it changes. One writer at a time.
class Signal {
 public:
  // Sequential consistency here and in wait(): either the writer sees the sleeper or the sleeper sees the new value.
  void set(std::uint32_t value) {
    value_.store(value, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) value_.notify_all();
  }

  // Returns the new value.
  std::uint32_t wait(std::uint32_t old, bool crowded) {
    std::uint32_t value = old;
    if (spin_until(crowded, [&] { return (value = value_.load(std::memory_order_acquire)) != old; })) return value;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    while ((value = value_.load(std::memory_order_seq_cst)) == old) value_.wait(old, std::memory_order_seq_cst);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    return value;
  }

 private:
  std::atomic<std::uint32_t> value_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

// Lets workers in while it is open, and counts those inside.
class Gate {
 public:
  void open() { state_.store(0, std::memory_order_release); }

  bool enter() {
    for (std::uint32_t state = state_.load(std::memory_order_acquire); (state & kClosed) == 0;)
      if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire))
        return true;
    return false;
  }
  void leave() {
    if (state_.fetch_sub(1, std::memory_order_acq_rel) == (kClosed | 1)) state_.notify_one();
  }

  // Closes the gate, and returns when all workers have left.
  void close(bool crowded) {
    state_.fetch_or(kClosed, std::memory_order_acq_rel);
    std::uint32_t state = 0;
    const auto is_empty = [&] { return (state = state_.load(std::memory_order_acquire)) == kClosed; };
    if (spin_until(crowded, is_empty)) return;
    while (!is_empty()) state_.wait(state, std::memory_order_acquire);
  }

 private:
  static constexpr std::uint32_t kClosed = 1u << 31;
  std::atomic<std::uint32_t> state_{kClosed};
};

class ThreadPool {
 public:
  using Task = void (*)(void* context, int thread);

  // The pool of this module. Never destroyed: a thread may still run when the process exits.
  static ThreadPool& instance() {
    static ThreadPool* pool = new ThreadPool;
    static const struct AtExit {
      ~AtExit() { pool->shut_down(); }
    } at_exit;
    return *pool;
  }

  // True if the caller owns the pool until release(); false if another thread owns it.
  bool try_acquire() { return !taken_.exchange(true, std::memory_order_acquire); }
  void release() { taken_.store(false, std::memory_order_release); }

  // Starts workers until n_threads, including the caller, can run at the same time. Returns the number of threads,
  // which is smaller only if the system cannot start more. The caller must own the pool.
  int reserve(int n_threads) {
    if (n_threads < 1) n_threads = 1;
    if (n_threads == 1) return 1;
    if (state_ == nullptr) {
      state_ = new State;
      state_->inherited = inherited_;
    }
    start_workers(*state_, n_threads - 1);
    const int available = static_cast<int>(state_->workers.size()) + 1;
    return n_threads < available ? n_threads : available;
  }

  // Calls task(context, 0), and meanwhile task(context, i) on each worker 0 < i < n_threads that wakes up, until all
  // have returned. A worker that has not started when the caller is done is not waited for; a worker may call it twice.
  // The caller must own the pool and have reserved n_threads.
  void parallel(int n_threads, Task task, void* context) {
    if (n_threads <= 1) return task(context, 0);
    State& s = *state_;
    s.task = task;
    s.context = context;
    s.n_threads = n_threads;
    s.crowded = n_threads > s.cpus;
    s.gate.open();
    ++s.turn;
    for (int i = 0; i < n_threads - 1; ++i) s.workers[static_cast<std::size_t>(i)]->go.set(s.turn);
    task(context, 0);
    s.gate.close(s.crowded);
  }

  int n_workers() const { return state_ == nullptr ? 0 : static_cast<int>(state_->workers.size()); }

 private:
  // Each on its own cache line, so that waking one worker does not disturb another's spinning.
  struct alignas(64) Worker {
    Signal go;  // number of the current task
    std::thread thread;
  };

  struct State {
    // Written by the caller while the gate is closed, read by the workers inside of it.
    alignas(64) Task task = nullptr;
    void* context = nullptr;
    int n_threads = 1;
    bool crowded = false;
    std::uint32_t turn = 0;
    int cpus = usable_cpus();
    std::vector<std::unique_ptr<Worker> > workers;
    State* inherited = nullptr;  // see forget_workers()
    std::atomic<bool> stopping{false};

    alignas(64) Gate gate;
  };

  ThreadPool() {
    only_ = this;
#if defined(MADALINE_POSIX)
    pthread_atfork(nullptr, nullptr, [] { only_->forget_workers(); });
#endif
  }

  // Called in a forked child. Its copies of the workers have no threads: they cannot be joined, and destroying a
  // joinable std::thread terminates the process. So they are kept, unused; a leak checker still finds them through this
  // pointer.
  void forget_workers() {
    if (state_ != nullptr) inherited_ = state_;
    state_ = nullptr;
    taken_.store(false, std::memory_order_relaxed);  // its owner is a thread of the parent
  }

  void start_workers(State& s, int n) {
    if (static_cast<int>(s.workers.size()) >= n) return;
    s.workers.reserve(static_cast<std::size_t>(n));
#if defined(MADALINE_POSIX)
    // Workers inherit a mask that blocks all signals, so that Python's threads get them: Ctrl-C must interrupt the
    // caller.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
    while (static_cast<int>(s.workers.size()) < n) {
      auto worker = std::make_unique<Worker>();
      worker->go.set(s.turn);
      const int index = static_cast<int>(s.workers.size()) + 1;
      try {
        worker->thread = std::thread(work, std::ref(s), std::ref(worker->go), s.turn, index);
      } catch (const std::system_error&) {
        break;
      }
      s.workers.push_back(std::move(worker));
    }
#if defined(MADALINE_POSIX)
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
  }

  static void work(State& s, Signal& go, std::uint32_t turn, int index) {
    for (bool crowded = false;;) {
      turn = go.wait(turn, crowded);
      if (s.stopping.load(std::memory_order_acquire)) return;
      if (!s.gate.enter()) continue;
      crowded = s.crowded;
      if (index < s.n_threads) s.task(s.context, index);  // else it was woken for an earlier task with more threads
      s.gate.leave();
    }
  }

  // Called at exit. If a thread is still computing, its workers are left alone: the process is about to end anyway.
  void shut_down() {
#if !defined(_WIN32)  // on Windows, threads end before static objects are destroyed, and joining one would hang
    if (!try_acquire()) return;
    // The pool stays taken, so that later callers run alone.
    if (state_ == nullptr) return;
    state_->stopping.store(true, std::memory_order_release);
    ++state_->turn;
    for (auto& worker : state_->workers) worker->go.set(state_->turn);
    for (auto& worker : state_->workers) worker->thread.join();
    delete state_;
    state_ = nullptr;
#endif
  }

  static inline ThreadPool* only_ = nullptr;  // the fork handler cannot wait for instance() to be initialised
  std::atomic<bool> taken_{false};
  State* state_ = nullptr;
  State* inherited_ = nullptr;
};

// The threads that run one program: those of the pool if it is free, else only the caller.
class Team {
 public:
  explicit Team(int n_threads) {
    if (n_threads <= 1) return;
    ThreadPool& pool = ThreadPool::instance();
    if (!pool.try_acquire()) return;
    size_ = pool.reserve(n_threads);
    if (size_ > 1) pool_ = &pool;
    else pool.release();
  }
  ~Team() {
    if (pool_ != nullptr) pool_->release();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // Calls f(thread, piece) for every piece < n_pieces, each once, on any thread < size(); returns when all have
  // returned. f does not throw.
  template <class F> void share(std::int64_t n_pieces, F f) {
    if (pool_ == nullptr || n_pieces <= 1) {
      for (std::int64_t piece = 0; piece < n_pieces; ++piece) f(0, piece);
      return;
    }
    std::atomic<std::int64_t> next{0};
    const auto work = [&](int thread) {
      for (std::int64_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < n_pieces;) f(thread, piece);
    };
    using Work = decltype(work);
    pool_->parallel(
        size_, [](void* context, int thread) { (*static_cast<Work*>(context))(thread); },
        const_cast<void*>(static_cast<const void*>(std::addressof(work))));
  }

 private:
  ThreadPool* pool_ = nullptr;
  int size_ = 1;
};

#endif

}  // namespace madaline::MADALINE_ISA
