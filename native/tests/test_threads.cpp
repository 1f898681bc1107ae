// The thread pool: every index once, barriers hold, one team at a time, sleepers wake, forks live.
#include "kernels/threads.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#if defined(MADALINE_POSIX)
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace madaline::MADALINE_ISA;
using Clock = std::chrono::steady_clock;

static int passed = 0, failed = 0;

static void check(bool ok, const char* what) {
  ok ? ++passed : ++failed;
  if (!ok) std::printf("FAILED: %s\n", what);
}

static void every_index_runs_once_on_its_own_thread(int n_threads) {
  Team team(n_threads);
  check(team.size() == n_threads, "a free pool grants the threads asked for");
  std::vector<int> calls(static_cast<std::size_t>(n_threads), 0);
  std::vector<std::thread::id> ids(static_cast<std::size_t>(n_threads));
  for (int turn = 0; turn < 200; ++turn)
    team.run([&](int thread) {
      ++calls[static_cast<std::size_t>(thread)];
      ids[static_cast<std::size_t>(thread)] = std::this_thread::get_id();
    });
  bool once = true, apart = true;
  for (int i = 0; i < n_threads; ++i) {
    once = once && calls[static_cast<std::size_t>(i)] == 200;
    for (int j = 0; j < i; ++j) apart = apart && ids[static_cast<std::size_t>(i)] != ids[static_cast<std::size_t>(j)];
  }
  check(once, "every index runs once a turn");
  check(apart, "every index has its own thread");
  check(ids[0] == std::this_thread::get_id(), "index 0 is the caller");
}

// A prefix sum done in rounds: it is wrong as soon as one thread is a round ahead of another.
static void barriers_keep_the_rounds_apart(int n_threads) {
  Team team(n_threads);
  const std::size_t n = static_cast<std::size_t>(team.size());
  constexpr int rounds = 300;
  std::vector<long> now(n), next(n);
  std::iota(now.begin(), now.end(), 1L);
  std::vector<long> expected = now;
  for (int round = 0; round < rounds; ++round) {
    std::vector<long> y(n);
    for (std::size_t i = 0; i < n; ++i) y[i] = (expected[i] + expected[(i + 1) % n]) % 1000003;
    expected = y;
  }
  team.run([&](int thread) {
    const std::size_t i = static_cast<std::size_t>(thread);
    for (int round = 0; round < rounds; ++round) {
      next[i] = (now[i] + now[(i + 1) % n]) % 1000003;
      team.barrier();
      now[i] = next[i];
      team.barrier();
    }
  });
  check(now == expected, "a barrier lets nobody go ahead");
}

static void only_one_team_has_the_pool() {
  Team first(2);
  check(first.size() == 2, "the first team gets its threads");
  {
    Team second(2);
    check(second.size() == 1, "a second team runs alone");
    int calls = 0;
    second.run([&](int thread) {
      ++calls;
      second.barrier();
      check(thread == 0, "a lone team has index 0");
    });
    check(calls == 1, "a lone team runs once");
  }
  Team third(2);
  check(third.size() == 1, "a team that ran alone does not free the pool of another");
}

static void the_pool_is_free_again_after_a_team() {
  {
    Team team(2);
  }
  Team team(2);
  check(team.size() == 2, "a team gives the pool back");
}

static void callers_on_several_threads_all_get_their_work_done() {
  std::vector<long> sums(4, 0);
  std::vector<std::thread> callers;
  for (std::size_t c = 0; c < 4; ++c)
    callers.emplace_back([&sums, c] {
      for (int turn = 0; turn < 500; ++turn) {
        Team team(2);
        std::atomic<long> sum{0};
        const int n = team.size();
        team.run([&](int thread) {
          for (long i = thread; i < 100; i += n) sum += i;
        });
        sums[c] += sum;
      }
    });
  for (auto& caller : callers) caller.join();
  check(sums == std::vector<long>(4, 500L * 4950L), "concurrent callers lose no work");
}

static void sleeping_workers_and_sleeping_callers_wake() {
  Team team(2);
  std::atomic<int> calls{0};
  for (int turn = 0; turn < 5; ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the worker is asleep by now
    team.run([&](int thread) {
      if (thread == 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // and now the caller will be
      ++calls;
    });
  }
  check(calls == 10, "sleepers wake");
}

#if defined(MADALINE_POSIX)
static int sum_of_indices(int n_threads) {
  Team team(n_threads);
  std::atomic<int> sum{0};
  team.run([&](int thread) { sum += thread + 1; });
  return team.size() == n_threads ? sum.load() : -1;
}

static void a_forked_child_starts_its_own_workers() {
  check(sum_of_indices(3) == 6, "the parent works before the fork");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const bool none = ThreadPool::instance().n_workers() == 0;
    // A grandchild, too: its parent's workers are not those of the first process.
    const bool works = sum_of_indices(3) == 6;
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(sum_of_indices(2) == 3 ? 0 : 1);
    int status = 1;
    waitpid(grandchild, &status, 0);
    _exit(none && works && status == 0 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a forked child, and its child, work");
  check(sum_of_indices(3) == 6, "the parent works after the fork");
}

static void a_child_forked_while_the_pool_is_taken_gets_it() {
  Team team(2);
  std::fflush(nullptr);
  // Another thread forks, as Python would: in the child nobody holds the pool any more.
  int status = 1;
  std::thread([&status] {
    const pid_t child = fork();
    if (child == 0) _exit(sum_of_indices(2) == 3 ? 0 : 1);
    waitpid(child, &status, 0);
  }).join();
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child does not wait for a holder it does not have");
  int calls = 0;
  team.run([&](int thread) {
    if (thread == 0) ++calls;
  });
  check(calls == 1, "the parent's team is undisturbed");
}
#endif

static void report_latency(int n_threads) {
  Team team(n_threads);
  double best = 1e9;
  for (int repeat = 0; repeat < 20; ++repeat) {
    constexpr int n = 2000;
    const auto start = Clock::now();
    for (int i = 0; i < n; ++i) team.run([](int) {});
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count() / n;
    if (us < best) best = us;
  }
  double barrier_us = 0;
  team.run([&](int thread) {
    constexpr int n = 20000;
    const auto start = Clock::now();
    for (int i = 0; i < n; ++i) team.barrier();
    if (thread == 0) barrier_us = std::chrono::duration<double, std::micro>(Clock::now() - start).count() / n;
  });
  std::printf("%d threads, hot: %.2f us an empty region, %.2f us a barrier\n", n_threads, best, barrier_us);
}

int main(int argc, char** argv) {
  for (int n_threads : {1, 2, 3, 8}) {
    every_index_runs_once_on_its_own_thread(n_threads);
    barriers_keep_the_rounds_apart(n_threads);
  }
  only_one_team_has_the_pool();
  the_pool_is_free_again_after_a_team();
  callers_on_several_threads_all_get_their_work_done();
  sleeping_workers_and_sleeping_callers_wake();
#if defined(MADALINE_POSIX)
  a_forked_child_starts_its_own_workers();
  a_child_forked_while_the_pool_is_taken_gets_it();
#endif
  if (argc > 1 && std::strcmp(argv[1], "--latency") == 0)
    for (int n_threads : {2, 4}) report_latency(n_threads);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
