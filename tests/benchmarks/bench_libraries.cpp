// Prints what libraries reach at the shapes of a workload's products in f32, in turn, oneDNN by two
// ways, and what the fast backend does there: GFLOP/s, medians. Nothing here passes or fails.
#include <cstdio>
#include <string>
#include <vector>

#include "builders/frugal.h"
#include "presets/memory_presets.h"
#include "tests/benchmarks/library_rates.h"

namespace frugal {
namespace {

void PrintRate(double flops_per_second) {
  if (flops_per_second == 0) {
    std::printf(" %9s", "-");
  } else {
    std::printf(" %9.1f", flops_per_second / 1e9);
  }
}

void PrintWorkload(const Workload& workload) {
  const StepProducts products = ProductsOf(workload);
  const OpenBlas openblas;
  std::printf("%s\n%6s %2s %8s %8s %8s %8s %9s %9s %9s %9s\n", workload.name.c_str(), "batch", "",
              "m", "n", "depth", "GFLOP", "sgemm", "matmul", "OpenBLAS", "ours");
  double flops = 0, libraries = 0, ours = 0;
  for (const StepProduct& p : products.all()) {
    const LibraryRates rates = ProductTimer(p).Measure(openblas, true);
    std::printf("%6ld %c%c %8ld %8ld %8ld %8.2f", static_cast<long>(p.batch), p.transpose_a,
                p.transpose_b, static_cast<long>(p.m), static_cast<long>(p.n),
                static_cast<long>(p.k), p.flops / 1e9);
    PrintRate(rates.sgemm);
    PrintRate(rates.matmul);
    PrintRate(rates.openblas);
    PrintRate(rates.ours);
    std::printf("\n");
    std::fflush(stdout);
    if (rates.ours == 0) continue;
    flops += p.flops;
    libraries += p.flops / rates.Best();
    ours += p.flops / rates.ours;
  }
  if (ours == 0) return;
  std::printf("those of layers together: the best library %.1f, ours %.1f GFLOP/s\n\n",
              flops / libraries / 1e9, flops / ours / 1e9);
}

}  // namespace
}  // namespace frugal

// bench_libraries [workload...]: all unless told.
int main(int count, char** words) {
  return frugal::RunProgram([&] {
    const std::vector<std::string> names(words + 1, words + count);
    for (const std::string& name : names) frugal::WorkloadNamed(name);
    for (const frugal::Workload& workload : frugal::Workloads()) {
      if (names.empty() || std::ranges::count(names, workload.name) > 0) {
        frugal::PrintWorkload(workload);
      }
    }
  });
}
