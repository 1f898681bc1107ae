// Reading files that are cut while they are mapped: the read fails, the process and its own handlers of SIGBUS do not.
#include "kernels/mapped.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#if defined(MADALINE_BUS_ERRORS)
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace madaline::MADALINE_ISA;

namespace {

int passed = 0, failed = 0;

void check(bool ok, const std::string& what) {
  ++(ok ? passed : failed);
  if (!ok) std::printf("FAILED: %s\n", what.c_str());
}

#if defined(MADALINE_BUS_ERRORS)

constexpr std::size_t kBytes = 1 << 16;

// A mapped file of kBytes ones, of which `kept` bytes are left.
struct CutFile {
  char* data;

  explicit CutFile(std::size_t kept) {
    std::FILE* const stream = std::tmpfile();
    if (stream == nullptr) std::abort();
    const int file = fileno(stream);
    const std::vector<char> ones(kBytes, 1);
    if (write(file, ones.data(), kBytes) != static_cast<ssize_t>(kBytes)) std::abort();
    data = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file, 0));
    if (data == MAP_FAILED || ftruncate(file, static_cast<off_t>(kept)) != 0) std::abort();
    std::fclose(stream);  // which removes the file; the mapping stays
  }
  ~CutFile() { munmap(data, kBytes); }
};

bool copied(const char* from, std::vector<char>& to) {
  return read_mapped([&] { std::memcpy(to.data(), from, to.size()); });
}

bool is_standard() {
  struct sigaction now = {};
  sigaction(SIGBUS, nullptr, &now);
  return now.sa_handler == SIG_DFL;
}

void reads() {
  const CutFile whole(kBytes), half(kBytes / 2);
  std::vector<char> to(kBytes);
  {
    const BusErrors bus_errors;
    check(copied(whole.data, to) && to.back() == 1, "a whole file is read");
    check(!copied(half.data, to), "a file that was cut is not");
    check(!copied(half.data, to), "and is not when it is read again");
    to.resize(kBytes / 2);
    check(copied(half.data, to), "what is left of it is read");
    const BusErrors second;
    check(!is_standard(), "the handler is installed");
  }
  check(is_standard(), "the handler of before is restored");
}

void threads_read() {
  const CutFile half(kBytes / 2);
  std::atomic<int> wrong{0};
  const BusErrors bus_errors;
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k)
    threads.emplace_back([&, k] {
      std::vector<char> to(k % 2 ? kBytes : kBytes / 2);
      for (int round = 0; round < 200; ++round) wrong += copied(half.data, to) != (k % 2 == 0);
    });
  for (std::thread& thread : threads) thread.join();
  check(wrong == 0, "each thread fails on its own");
}

// How a child ends that does something: its exit code, or minus its signal.
template <class F> int end_of_child(F f) {
  const pid_t child = fork();
  if (child == 0) {
    f();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void other_code() {
  const CutFile half(kBytes / 2);
  const auto touch = [&] { (void)*const_cast<volatile char*>(half.data + kBytes - 1); };
  const auto end_with_5 = [](int) { _exit(5); };
  check(end_of_child([&] {
          signal(SIGBUS, SIG_DFL);  // not that of a sanitizer
          const BusErrors bus_errors;
          touch();
        }) == -SIGBUS,
        "an error of other code ends the process, as it did");
  check(end_of_child([&] {
          signal(SIGBUS, end_with_5);
          const BusErrors bus_errors;
          touch();
        }) == 5,
        "or goes to the handler of before");
  check(end_of_child([&] {
          signal(SIGBUS, end_with_5);
          {
            const BusErrors bus_errors;
            std::vector<char> to(kBytes);
            if (copied(half.data, to)) _exit(6);
          }
          raise(SIGBUS);
        }) == 5,
        "which is there again after a read that failed");
  check(end_of_child([&] {
          const BusErrors bus_errors;
          signal(SIGBUS, end_with_5);
          {
            const BusErrors second;
          }
          raise(SIGBUS);
        }) == 5,
        "a handler that was installed in the meantime is left alone");
  check(end_of_child([&] {
          signal(SIGBUS, SIG_IGN);
          const BusErrors bus_errors;
          raise(SIGBUS);
        }) == 0,
        "a signal from outside may be ignored");
  check(end_of_child([&] {
          signal(SIGBUS, SIG_DFL);
          const BusErrors bus_errors;
          raise(SIGBUS);
        }) == -SIGBUS,
        "or ends the process");
  check(end_of_child([&] {
          const BusErrors bus_errors;
          const int code = end_of_child([&] {
            std::vector<char> to(kBytes);
            const BusErrors of_child;
            if (copied(half.data, to)) _exit(6);
          });
          _exit(code);
        }) == 0,
        "a forked child reads, too");
}

#endif

}  // namespace

int main() {
#if defined(MADALINE_BUS_ERRORS)
  signal(SIGBUS, SIG_DFL);
  reads();
  threads_read();
  other_code();
#else
  check(read_mapped([] {}), "a read");
#endif
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
