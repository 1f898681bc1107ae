// Reading memory that a file is mapped to. If another process cuts the file, the system answers a read of the missing
// pages with the signal SIGBUS, which ends the process by default.
//
//   BusErrors watched;                                    // a handler of SIGBUS during the lifetime of the object
//   bool is_read = read_mapped([&] { copy(from, to); });  // on any thread; false if a page could not be read
//
// The handler jumps back to read_mapped() on the thread that failed: SIGBUS of a read is sent to this thread. The
// function is abandoned where it is, so its frames must not own anything: no locks, no memory, no destructors.
// A SIGBUS of other code, or one that was sent by a process, is given to the handler that was there before.
#pragma once

#include <atomic>

#if !defined(__wasm__) && (defined(__unix__) || defined(__APPLE__))
#define MADALINE_BUS_ERRORS 1
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#endif

#include "kernels/simd.h"

namespace madaline::MADALINE_ISA {

#if defined(MADALINE_BUS_ERRORS)

// In the block that every thread has from its start: a signal handler must not allocate.
#if defined(__linux__)
#define MADALINE_STATIC_TLS __attribute__((tls_model("initial-exec")))
#else
#define MADALINE_STATIC_TLS
#endif

class BusErrors {
 public:
  BusErrors() {
    forget_users_after_fork();
    const Guard guard;
    ++users_;
    if (is_installed()) return;
    struct sigaction ours = {}, before = {};
    ours.sa_sigaction = &BusErrors::handle;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;  // not deferred: it may be handed on to the standard handler
    sigemptyset(&ours.sa_mask);
    sigaction(SIGBUS, nullptr, &before);
    previous_ = before;
    sigaction(SIGBUS, &ours, nullptr);
  }
  // The handler that was there before is restored, unless another one was installed in the meantime: that one may call
  // ours, which stays where it is and hands everything on.
  ~BusErrors() {
    const Guard guard;
    if (users_ > 0) --users_;
    if (users_ == 0 && is_installed()) sigaction(SIGBUS, &previous_, nullptr);
  }
  BusErrors(const BusErrors&) = delete;
  BusErrors& operator=(const BusErrors&) = delete;

  using Reading = void (*)(void* context);

  // Not inlined: its variables do not change after sigsetjmp, so that none of them is lost in a register.
  __attribute__((noinline)) static bool read(Reading reading, void* context) noexcept {
    sigjmp_buf here;
    sigjmp_buf* const before = landing_;
    if (sigsetjmp(here, 1) != 0) {  // with the mask of signals, which a jump out of a handler must restore
      landing_ = before;
      return false;
    }
    landing_ = &here;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    reading(context);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    landing_ = before;
    return true;
  }

 private:
  struct Guard {
    Guard() {
      while (changing_.exchange(true, std::memory_order_acquire)) {
      }
    }
    ~Guard() { changing_.store(false, std::memory_order_release); }
  };

  static void handle(int signal, siginfo_t* info, void* context) {
    const bool is_read = info->si_code > 0;  // else it was sent by a process
    if (is_read && landing_ != nullptr) siglongjmp(*landing_, 1);
    const bool is_standard = previous_.sa_handler == SIG_DFL || previous_.sa_handler == SIG_IGN;
    if (!is_standard && !is_handed_on_) {
      is_handed_on_ = true;  // the other handler may call this one again
      if ((previous_.sa_flags & SA_SIGINFO) != 0) previous_.sa_sigaction(signal, info, context);
      else previous_.sa_handler(signal);
      is_handed_on_ = false;
      return;
    }
    if (previous_.sa_handler == SIG_IGN && !is_read) return;
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    if (!is_read) raise(signal);  // else the read is repeated on return, and ends the process
  }

  static bool is_installed() {
    struct sigaction now = {};
    sigaction(SIGBUS, nullptr, &now);
    return (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &BusErrors::handle;
  }

  // In a child, the threads that used the handler do not exist. It stays installed until a loop of the child ends.
  static void forget_users_after_fork() {
    static const int registered = pthread_atfork(nullptr, nullptr, [] {
      users_ = 0;
      changing_.store(false, std::memory_order_relaxed);
    });
    (void)registered;
  }

  static inline std::atomic<bool> changing_{false};
  static inline int users_ = 0;
  static inline struct sigaction previous_ = {};
  MADALINE_STATIC_TLS static inline constinit thread_local sigjmp_buf* landing_ = nullptr;
  MADALINE_STATIC_TLS static inline constinit thread_local bool is_handed_on_ = false;
};

template <class F> bool read_mapped(F reading) noexcept {
  return BusErrors::read([](void* context) { (*static_cast<F*>(context))(); }, &reading);
}

#else  // Windows does not let a mapped file be cut, and WebAssembly has no files

class BusErrors {};

template <class F> bool read_mapped(F reading) noexcept {
  reading();
  return true;
}

#endif

}  // namespace madaline::MADALINE_ISA
