// The memory of runs, which is reused between runs.
//
// Touching new pages costs more than a step of a small net, so a program keeps the arenas of its last runs. All
// programs together keep at most kIdleBytes, or the arena that was used last; beyond that, the least recently used
// arenas are freed.
#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

#include "kernels/memory.h"
#include "kernels/program.h"

namespace madaline::MADALINE_ISA {

#if defined(__wasm__)
struct Mutex {  // for the only thread
  void lock() {}
  void unlock() {}
};
#else
using Mutex = std::mutex;
#endif

inline constexpr std::size_t kIdleBytes = std::size_t(128) << 20;

// The memory of one thread of a run.
struct Worker {
  Memory tile, scratch;
  std::vector<char*> address;
  std::int64_t prepared_rows = -1;
  Frame frame;
};

class ArenaPool;

struct Arena {
  ArenaPool* pool = nullptr;
  Memory shared, rows, lanes, common;
  std::vector<std::unique_ptr<Worker>> workers;

  std::size_t bytes() const {
    std::size_t total = shared.bytes() + rows.bytes() + lanes.bytes() + common.bytes();
    for (const auto& w : workers) total += w->tile.bytes() + w->scratch.bytes();
    return total;
  }
};

// The idle arenas of all programs, the most recently used last.
class IdleArenas {
 public:
  // Never destroyed: a program may outlive it when the process exits.
  static IdleArenas& instance() {
    static IdleArenas* idle = new IdleArenas;
    return *idle;
  }
  std::size_t bytes() {
    std::lock_guard guard(mutex_);
    return bytes_;
  }

 private:
  friend class ArenaPool;
  IdleArenas() {
#if defined(__unix__) || defined(__APPLE__)
    // So that in a forked child the mutex is free and the list is consistent.
    only_ = this;
    pthread_atfork([] { only_->mutex_.lock(); }, [] { only_->mutex_.unlock(); }, [] { only_->mutex_.unlock(); });
#endif
  }
  static inline IdleArenas* only_ = nullptr;  // the fork handlers cannot wait for instance() to be initialised
  Mutex mutex_;                               // guards all of this, and idle_ of every pool
  std::list<Arena> all_;
  std::size_t bytes_ = 0;
};

// The idle arenas of one program.
class ArenaPool {
 public:
  ArenaPool() = default;
  ArenaPool(const ArenaPool&) = delete;
  ArenaPool& operator=(const ArenaPool&) = delete;
  ~ArenaPool() { clear(); }

  void clear() {
    std::list<Arena> freed;  // after the lock is released
    std::lock_guard guard(all().mutex_);
    while (!idle_.empty()) drop(idle_.back(), freed);
  }

  // An arena of the pool, or a new one, until it goes out of scope.
  class Lease {
   public:
    explicit Lease(ArenaPool& pool) {
      std::lock_guard guard(all().mutex_);
      if (!pool.idle_.empty()) {
        pool.take(pool.idle_.back(), one_);
      } else {
        pool.idle_.reserve(pool.count_ + 1);  // so that returning it cannot fail
        one_.emplace_back().pool = &pool;
        ++pool.count_;
      }
    }
    ~Lease() {
      std::list<Arena> freed;
      std::lock_guard guard(all().mutex_);
      all().bytes_ += one_.front().bytes();
      one_.front().pool->idle_.push_back(one_.begin());
      all().all_.splice(all().all_.end(), one_);
      while (all().bytes_ > kIdleBytes && all().all_.size() > 1) {
        const auto oldest = all().all_.begin();
        oldest->pool->drop(oldest, freed);
      }
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Arena& operator*() { return one_.front(); }
    Arena* operator->() { return &one_.front(); }

   private:
    std::list<Arena> one_;
  };

 private:
  static IdleArenas& all() { return IdleArenas::instance(); }

  // Moves an idle arena of this pool to a list.
  void take(std::list<Arena>::iterator arena, std::list<Arena>& to) {
    idle_.erase(std::find(idle_.begin(), idle_.end(), arena));
    all().bytes_ -= arena->bytes();
    to.splice(to.end(), all().all_, arena);
  }
  void drop(std::list<Arena>::iterator arena, std::list<Arena>& freed) {
    take(arena, freed);
    --count_;
  }

  std::vector<std::list<Arena>::iterator> idle_;
  std::size_t count_ = 0;  // number of arenas, idle or in use
};

}  // namespace madaline::MADALINE_ISA
