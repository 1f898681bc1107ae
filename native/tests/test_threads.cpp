// The thread pool: every piece once, one team at a time, slow workers are helped, sleeping workers wake, forks work.
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

static void every_piece_runs_once(int n_threads) {
  Team team(n_threads);
  check(team.size() == n_threads, "a free pool grants the threads asked for");
  constexpr std::size_t n_pieces = 37;
  std::vector<std::atomic<int>> calls(n_pieces), inside(static_cast<std::size_t>(n_threads));
  std::atomic<bool> apart{true}, in_range{true}, own{true};
  const std::thread::id caller = std::this_thread::get_id();
  for (int turn = 0; turn < 200; ++turn)
    team.share(static_cast<std::int64_t>(n_pieces), [&](int thread, std::int64_t piece) {
      if (thread < 0 || thread >= n_threads) in_range = false;
      if (inside[static_cast<std::size_t>(thread)]++ != 0) apart = false;
      if ((std::this_thread::get_id() == caller) != (thread == 0)) own = false;
      ++calls[static_cast<std::size_t>(piece)];
      --inside[static_cast<std::size_t>(thread)];
    });
  bool once = true;
  for (const auto& count : calls) once = once && count == 200;
  check(once, "every piece runs once a turn");
  check(in_range, "threads are counted from 0");
  check(apart, "a thread does one piece at a time");
  check(own, "index 0 is the caller, and only the caller");
}

// Results of pieces are visible when share() has returned, and in the next share().
static void shares_come_one_after_another(int n_threads) {
  Team team(n_threads);
  constexpr std::size_t n = 16;
  std::vector<long> now(n), next(n);
  std::iota(now.begin(), now.end(), 1L);
  std::vector<long> expected = now;
  const auto round = [](const std::vector<long>& x, std::size_t i) { return (x[i] + x[(i + 1) % n]) % 1000003; };
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<long> y(n);
    for (std::size_t i = 0; i < n; ++i) y[i] = round(expected, i);
    expected = y;
    team.share(
        n, [&](int, std::int64_t i) { next[static_cast<std::size_t>(i)] = round(now, static_cast<std::size_t>(i)); });
    now = next;
  }
  check(now == expected, "nobody is a turn behind");
}

// Each piece takes the calling thread long; a worker that wakes up takes some, and one that never does delays nothing.
static void a_piece_that_waits_for_others_is_overtaken() {
  Team team(2);
  std::atomic<int> others{0};
  std::atomic<bool> held{false};
  team.share(8, [&](int thread, std::int64_t) {
    if (thread == 1 && !held.exchange(true))
      while (others < 7) std::this_thread::yield();  // the caller does the other seven
    else ++others;
  });
  check(others == (held ? 7 : 8), "the others do the pieces that a slow worker leaves");
}

static void only_one_team_has_the_pool() {
  Team first(2);
  check(first.size() == 2, "the first team gets its threads");
  {
    Team second(2);
    check(second.size() == 1, "a second team runs alone");
    int calls = 0;
    second.share(3, [&](int thread, std::int64_t) {
      ++calls;
      check(thread == 0, "a lone team has index 0");
    });
    check(calls == 3, "a lone team does every piece");
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
        team.share(100, [&](int, std::int64_t i) { sum += static_cast<long>(i); });
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
    team.share(2, [&](int thread, std::int64_t) {
      // The caller is slow at first, so that the worker wakes up; then the caller sleeps while the worker is slow.
      std::this_thread::sleep_for(std::chrono::milliseconds(thread == 0 ? 2 : 8));
      ++calls;
    });
  }
  check(calls == 10, "sleepers wake");
}

#if defined(MADALINE_POSIX)
static int sum_of_indices(int n_threads) {
  Team team(n_threads);
  std::atomic<int> sum{0};
  team.share(n_threads, [&](int, std::int64_t piece) { sum += static_cast<int>(piece) + 1; });
  return team.size() == n_threads ? sum.load() : -1;
}

static void a_forked_child_starts_its_own_workers() {
  check(sum_of_indices(3) == 6, "the parent works before the fork");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const bool none = ThreadPool::instance().n_workers() == 0;
    // Also a grandchild: the workers of its parent are not those of the first process.
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
  // Another thread forks, as Python would: in the child the pool is free again.
  int status = 1;
  std::thread([&status] {
    const pid_t child = fork();
    if (child == 0) _exit(sum_of_indices(2) == 3 ? 0 : 1);
    waitpid(child, &status, 0);
  }).join();
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child does not wait for a holder it does not have");
  std::atomic<int> done{0};
  team.share(5, [&](int, std::int64_t) { ++done; });
  check(done == 5, "the parent's team is undisturbed");
}
#endif

static void report_latency(int n_threads) {
  Team team(n_threads);
  double best = 1e9;
  for (int repeat = 0; repeat < 20; ++repeat) {
    constexpr int n = 2000;
    const auto start = Clock::now();
    for (int i = 0; i < n; ++i) team.share(2, [](int, std::int64_t) {});
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count() / n;
    if (us < best) best = us;
  }
  std::printf("%d threads, hot: %.2f us to share two empty pieces\n", n_threads, best);
}

int main(int argc, char** argv) {
  for (int n_threads : {1, 2, 3, 8}) {
    every_piece_runs_once(n_threads);
    shares_come_one_after_another(n_threads);
  }
  a_piece_that_waits_for_others_is_overtaken();
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
