// Early termination of a long run. The thread of the run asks at intervals whether to stop; other threads that work for
// it see the answer.
#pragma once

#include <atomic>
#include <chrono>

#include "kernels/simd.h"

namespace madaline::MADALINE_ISA {

class Watch {
 public:
  using Clock = std::chrono::steady_clock;
  using Ask = bool (*)(void* context);  // true: stop
  static constexpr auto kPeriod = std::chrono::milliseconds(50);

  // From any thread, before the run or during it.
  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // If `ask` is null, only stop() ends the run.
  void begin(Ask ask, void* context) {
    ask_ = ask;
    context_ = context;
    last_ = Clock::now();
  }

  // Called by the thread of the run: asks if enough time has passed. True means stop.
  bool look() { return look(Clock::now()); }
  bool look(Clock::time_point now) {
    if (ask_ != nullptr && now - last_ >= kPeriod) {
      if (ask_(context_)) stop();
      last_ = Clock::now();
    }
    return stopped();
  }

 private:
  std::atomic<bool> stopped_{false};
  Ask ask_ = nullptr;
  void* context_ = nullptr;
  Clock::time_point last_;
};

}  // namespace madaline::MADALINE_ISA
