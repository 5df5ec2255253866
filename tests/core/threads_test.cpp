#include "sdk/core/threads.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/skip.h"

namespace frugal {
namespace {

// The OpenMP runtimes among the files that this process has mapped.
std::set<std::string> MappedRuntimes() {
  std::set<std::string> runtimes;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    const std::string name = std::filesystem::path(line.substr(path)).filename().string();
    for (const char* start : {"libgomp", "libomp", "libiomp"}) {
      if (name.starts_with(start)) runtimes.insert(name);
    }
  }
  return runtimes;
}

std::string FileOf(void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 ? info.dli_fname : "";
}

}  // namespace

TEST_CASE("threads: a program has one OpenMP runtime, and oneDNN's calls arrive there") {
  const auto runtimes = MappedRuntimes();
  CAPTURE(runtimes);
  REQUIRE(runtimes.size() == 1);
  // The first of all that are loaded, which is the one that every library is bound to.
  void* const parallel = dlsym(RTLD_DEFAULT, "GOMP_parallel");
  REQUIRE(parallel != nullptr);
  CHECK(std::filesystem::canonical(FileOf(parallel)).filename() == *runtimes.begin());
}

TEST_CASE("threads: every thread of a team runs once") {
  for (const int threads : {1, 2, 3}) {
    std::vector<int> runs(static_cast<std::size_t>(threads), 0), sizes(runs);
    RunTeam(threads, [&] {
      const auto number = static_cast<std::size_t>(ThreadNumber());
      runs.at(number) += 1;
      sizes.at(number) = TeamSize();
    });
    const int team = sizes[0];  // fewer where the environment has a limit
    CHECK(team <= threads);
    if (threads <= MostThreads()) CHECK(team == threads);
    for (int i = 0; i < threads; ++i) {
      CHECK(runs[static_cast<std::size_t>(i)] == (i < team ? 1 : 0));
      CHECK(sizes[static_cast<std::size_t>(i)] == (i < team ? team : 0));
    }
  }
  CHECK(ThreadNumber() == 0);
  CHECK(TeamSize() == 1);
}

// A normalization of one sample is such a loop. To make threads for it alone takes far longer than
// what they do.
TEST_CASE("threads: a loop inside a single piece makes no threads of its own", "[needs-plain]") {
  FRUGAL_SKIP_UNLESS(!frugal::testing::kIsSanitized,
                     "under the thread sanitizer each team has threads of its own");
  std::mutex adding;
  std::set<pid_t> threads;
  const auto loop = [&] {
    ParallelFor(8, 1, [&](std::int64_t, std::int64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));  // or one might take them all
      const std::scoped_lock lock(adding);
      threads.insert(::gettid());
    });
  };
  for (int i = 0; i < 50; ++i) {
    ParallelFor(1, 1, [&](std::int64_t, std::int64_t) { loop(); });
    RunTeam(1, loop);
  }
  CHECK(std::ssize(threads) == std::min(MostThreads(), 8));
}

TEST_CASE("threads: a loop takes each index once, on consecutive pieces") {
  for (const std::int64_t count : {0, 1, 7, 64, 1000}) {
    for (const std::int64_t chunk : {1, 3, 64}) {
      std::vector<int> taken(static_cast<std::size_t>(count), 0);
      std::atomic<bool> well_cut = true;  // Catch2 counts on one thread
      ParallelFor(count, chunk, [&](std::int64_t begin, std::int64_t end) {
        if (begin % chunk != 0 || end != std::min(count, begin + chunk)) well_cut = false;
        for (std::int64_t i = begin; i < end; ++i) ++taken[static_cast<std::size_t>(i)];
      });
      CHECK(well_cut);
      CHECK(taken == std::vector<int>(taken.size(), 1));
    }
  }
}

TEST_CASE("threads: shared tasks are taken once, whatever is taken in a row") {
  for (const std::int64_t in_a_row : {1, 4, 100}) {
    std::vector<int> taken(37, 0);
    SharedTasks tasks(37, in_a_row);
    RunTeam(0, [&] {
      tasks.Work([&](std::int64_t task) { ++taken[static_cast<std::size_t>(task)]; });
    });
    CHECK(taken == std::vector<int>(37, 1));
  }
}

// Whoever holds the first task of its share waits until all others are done, so that those behind
// it have to be taken by another thread.
TEST_CASE("threads: what is left of a share is taken by the threads whose own is done") {
  for (const std::int64_t count : {2, 3, 37, 200}) {
    std::atomic<std::int64_t> done = 0;
    std::atomic<bool> all_others = true;
    StealingTasks tasks(count);
    RunTeam(0, [&] {
      tasks.Work([&](std::int64_t task) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (task == 0 && TeamSize() > 1 && done < count - 1) {
          if (std::chrono::steady_clock::now() > end) all_others = false;
          if (!all_others) break;
          std::this_thread::yield();
        }
        ++done;
      });
    });
    CHECK(all_others);
    CHECK(done == count);
  }
}

TEST_CASE("threads: an exception leaves a loop when all pieces have ended") {
  std::vector<int> taken(16, 0);
  CHECK_THROWS_AS(ParallelFor(16, 1,
                              [&](std::int64_t i, std::int64_t) {
                                taken[static_cast<std::size_t>(i)] = 1;
                                if (i % 2 == 0) throw std::runtime_error("even");
                              }),
                  std::runtime_error);
  CHECK(taken == std::vector<int>(16, 1));
}

}  // namespace frugal
