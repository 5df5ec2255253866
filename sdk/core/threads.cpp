#include "sdk/core/threads.h"

// These are entries of libgomp (its manual: "The libgomp ABI", "Runtime Library Routines"). What
// clang++ makes of OpenMP's own directives needs another runtime beside it.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void GOMP_parallel(void (*task)(void*), void* data, unsigned threads, unsigned flags);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
int omp_get_level();
void omp_set_num_threads(int threads);
}
// NOLINTEND(readability-identifier-naming)

namespace frugal {

void SetMostThreads(int threads) { omp_set_num_threads(threads); }

int MostThreads() { return omp_get_max_threads(); }

int ThreadNumber() { return omp_get_thread_num(); }

int TeamSize() { return omp_get_num_threads(); }

// The caller is a team of one by itself, and teams that the task asks for are then not nested.
void RunTeam(int threads, void (*task)(void*), void* data) {
  if (threads == 1 && omp_get_level() == 0) return task(data);
  GOMP_parallel(task, data, static_cast<unsigned>(threads), 0);
}

}  // namespace frugal
