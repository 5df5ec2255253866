#include "sdk/backend/backend.h"

#include <omp.h>

namespace frugal {

std::string_view NameOf(BackendKind kind) {
  return kind == BackendKind::kOneDnn ? "onednn" : "eigen";
}

std::unique_ptr<Backend> MakeBackend(BackendKind kind) {
  return kind == BackendKind::kOneDnn ? MakeOneDnnBackend() : MakeEigenBackend();
}

void SetThreadCount(int threads) {
  static const int at_start = omp_get_max_threads();
  omp_set_num_threads(threads > 0 ? threads : at_start);
}

int ThreadCount() { return omp_get_max_threads(); }

}  // namespace frugal
