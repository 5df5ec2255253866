// Prints what libraries reach at the shapes of a workload's products in f32, in turn, oneDNN by two
// ways, and what the fast backend does there: GFLOP/s, medians. Products of other shapes too, as
// NN:256x4608x1152: whether the factors are transposed, rows, columns and depth. Nothing here
// passes or fails.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <span>
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

// Returns nothing where this is no shape, or has a size of 0 or above 100,000.
std::optional<StepProduct> ParseProduct(const std::string& word) {
  StepProduct product;
  const std::string orders = word.substr(0, word.find(':'));
  if (orders != "NN" && orders != "NT" && orders != "TN") return std::nullopt;
  product.transpose_a = word[0];
  product.transpose_b = word[1];
  const char* at = word.data() + 3;
  const char* const end = word.data() + word.size();
  for (std::int64_t* const size : {&product.m, &product.n, &product.k}) {
    if (size != &product.m && (at == end || *at++ != 'x')) return std::nullopt;
    const auto [behind, error] = std::from_chars(at, end, *size);
    if (error != std::errc() || *size < 1 || *size > 100'000) return std::nullopt;
    at = behind;
  }
  if (at != end) return std::nullopt;
  product.flops = product.FlopsOfOne();
  return product;
}

StepProduct ProductOf(const std::string& word) {
  if (const auto product = ParseProduct(word)) return *product;
  throw UsageError({.where = word,
                    .required = "NN, NT or TN, and rows, columns and depth up to 100,000",
                    .given = "it is not of that form",
                    .advice = "e.g. NN:256x4608x1152"});
}

void PrintProducts(const std::string& name, std::span<const StepProduct> products) {
  const OpenBlas openblas;
  std::printf("%s\n%6s %2s %8s %8s %8s %8s %9s %9s %9s %9s\n", name.c_str(), "batch", "", "m", "n",
              "depth", "GFLOP", "sgemm", "matmul", "OpenBLAS", "ours");
  double flops = 0, libraries = 0, ours = 0;
  for (const StepProduct& p : products) {
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

// bench_libraries [workload or shape...]: all workloads unless told.
int main(int count, char** words) {
  return frugal::RunProgram([&] {
    std::vector<std::string> names;
    std::vector<frugal::StepProduct> shapes;
    for (const std::string& word : std::vector<std::string>(words + 1, words + count)) {
      if (word.find(':') != std::string::npos) {
        shapes.push_back(frugal::ProductOf(word));
      } else {
        names.push_back(frugal::WorkloadNamed(word).name);
      }
    }
    if (!shapes.empty()) frugal::PrintProducts("shapes", shapes);
    for (const frugal::Workload& workload : frugal::Workloads()) {
      const bool is_asked = std::ranges::count(names, workload.name) > 0;
      if (!is_asked && (!shapes.empty() || !names.empty())) continue;
      frugal::PrintProducts(workload.name, frugal::ProductsOf(workload).all());
    }
  });
}
