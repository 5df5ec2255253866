#include <thread>
#include <vector>

#include "sdk/core/threads.h"

// This file makes the same teams on threads of the standard library, in place of threads.cpp: for
// the thread sanitizer, which sees nothing of libgomp's. Every team starts its threads anew.
namespace frugal {
namespace {

thread_local int most_threads = 2;
thread_local int number = 0;
thread_local int team_size = 1;

void RunAs(int as_number, int of_size, void (*task)(void*), void* data) {
  number = as_number;
  team_size = of_size;
  task(data);
  number = 0;
  team_size = 1;
}

}  // namespace

void SetMostThreads(int threads) { most_threads = threads; }

int MostThreads() { return most_threads; }

int ThreadNumber() { return number; }

int TeamSize() { return team_size; }

// A team within a team is the thread that asks for it alone, as in OpenMP.
void RunTeam(int threads, void (*task)(void*), void* data) {
  const int size = team_size > 1 ? 1 : threads > 0 ? threads : MostThreads();
  const int outer_number = number, outer_size = team_size;
  std::vector<std::thread> others;
  for (int i = 1; i < size; ++i) others.emplace_back(RunAs, i, size, task, data);
  RunAs(0, size, task, data);
  for (std::thread& other : others) other.join();
  number = outer_number;
  team_size = outer_size;
}

}  // namespace frugal
