#include "sdk/backend/backend.h"

#include "sdk/core/threads.h"

namespace frugal {

std::string_view NameOf(BackendKind kind) {
  return kind == BackendKind::kOneDnn ? "onednn" : "eigen";
}

std::unique_ptr<Backend> MakeBackend(BackendKind kind, F32Products products) {
  return kind == BackendKind::kOneDnn ? MakeOneDnnBackend(products) : MakeEigenBackend();
}

void SetThreadCount(int threads) {
  static const int at_start = MostThreads();
  SetMostThreads(threads > 0 ? threads : at_start);
}

int ThreadCount() { return MostThreads(); }

}  // namespace frugal
