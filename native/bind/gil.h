// Releases the GIL during the lifetime of an object, even if Python exits in the meantime.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace madaline::MADALINE_ISA {

// A daemon thread that requests the GIL while Python exits is ended (before Python 3.14) with pthread_exit, whose
// unwinding cannot pass noexcept functions: the process would abort. So after exit has begun, such a thread sleeps
// until the process ends, and exit waits for threads that were already requesting the GIL.
class ReleaseGil {
 public:
  ReleaseGil() : state_(PyEval_SaveThread()) {}
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

  // Sequentially consistent: either this thread sees that exit has begun, or exit sees that this thread is asking.
  ~ReleaseGil() {
    asking_.fetch_add(1);
    if (exiting_.load() && std::this_thread::get_id() != exiting_thread_) {
      asking_.fetch_sub(1);
      for (;;) std::this_thread::sleep_for(std::chrono::hours(24));
    }
    PyEval_RestoreThread(state_);
    asking_.fetch_sub(1);
  }

  // Called once, while the module is imported.
  static void watch_for_exit() {
    nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function(&ReleaseGil::begin_exit));
#if defined(__unix__) || defined(__APPLE__)
    pthread_atfork(nullptr, nullptr, [] { asking_.store(0); });  // the requesting threads stayed in the parent
#endif
  }

 private:
  static void begin_exit() {
    exiting_thread_ = std::this_thread::get_id();
    exiting_.store(true);
    while (asking_.load() > 0) {
      nanobind::gil_scoped_release release;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  static inline std::atomic<int> asking_{0};
  static inline std::atomic<bool> exiting_{false};
  static inline std::thread::id exiting_thread_;  // written before exiting_ is set
  PyThreadState* state_;
};

}  // namespace madaline::MADALINE_ISA
