// Prints what this processor does at most, by loops of one instruction that stay in registers, on
// one thread and on all that kernels use, and beside it oneDNN's best product as a share of that;
// and how fast memory is copied and read. Every figure is the best of many short runs.
//
//   bench_peak [--megabytes N] [--json]       of each array that is copied or read, 256 unless told
//
// FLOP a cycle, of each thread, are by the clock of integer instructions, which some processors
// lower for wide ones.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "builders/main_guard.h"
#include "builders/report/text/text_table.h"
#include "sdk/backend/backend.h"
#include "sdk/backend/instruction_limit.h"
#include "sdk/backend/machine/machine_limits.h"
#include "sdk/backend/machine/machine_peak.h"
#include "sdk/core/error.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

// Each figure is measured for so long.
constexpr double kSeconds = 0.3;
constexpr double kStreamSeconds = 1;

struct BenchOptions {
  std::int64_t megabytes = 256;
  bool json = false;
};

BenchOptions ReadOptions(int count, char** words) {
  BenchOptions options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--json") {
      options.json = true;
    } else if (word != "--megabytes" || i + 1 == count ||
               (options.megabytes = std::atoll(words[++i])) < 1) {
      throw UsageError({.where = "bench_peak",
                        .required = "[--megabytes N] [--json]",
                        .given = "'" + word + "'",
                        .advice = "e.g. --megabytes 512, where a cache holds more than 256"});
    }
  }
  return options;
}

std::vector<int> ThreadCounts() {
  const int all = ThreadCount();
  return all > 1 ? std::vector<int>{1, all} : std::vector<int>{1};
}

// Returns the one of those with such factors that the library's products are held against.
ProductInstruction FastestOf(DType dtype) {
  ProductInstruction fastest = ProductInstruction::kSse;
  for (const ProductInstruction instruction : kProductInstructions) {
    if (FactorsOf(instruction) == dtype && HasInstruction(instruction)) fastest = instruction;
  }
  return fastest;
}

double LibraryProduct(DType dtype, int threads) {
  SetThreadCount(threads);
  double best = 0;
  for (int run = 0; run < 10; ++run) {
    best = std::max(best, MeasureProductLimit(dtype, kSeconds / 10));
  }
  SetThreadCount(0);
  return best;
}

Json ProductRow(ProductInstruction instruction, int threads, double clock) {
  const DType factors = FactorsOf(instruction);
  const double peak = MeasurePeak(instruction, threads, kSeconds);
  Json row = {{"instruction", NameOf(instruction)},
              {"factors", NameOf(factors)},
              {"threads", threads},
              {"gflops", peak / 1e9},
              {"flop_per_cycle", peak / threads / clock}};
  if (instruction != FastestOf(factors)) return row;
  const double best = LibraryProduct(factors, threads);
  if (best > 0) {  // none where f32 is faster than these factors
    row["best_product_gflops"] = best / 1e9;
    row["share_of_peak"] = best / peak;
  }
  return row;
}

Json Measure(const BenchOptions& options) {
  const double clock = MeasureClock(kSeconds);
  Json products = Json::array();
  for (const ProductInstruction instruction : kProductInstructions) {
    if (!HasInstruction(instruction)) continue;
    for (const int threads : ThreadCounts()) {
      products.push_back(ProductRow(instruction, threads, clock));
    }
  }
  Json streams = Json::array();
  for (const MemoryStream stream : kMemoryStreams) {
    for (const int threads : ThreadCounts()) {
      const double rate = MeasureStream(stream, threads, options.megabytes << 20, kStreamSeconds);
      streams.push_back(
          {{"stream", NameOf(stream)}, {"threads", threads}, {"gb_per_second", rate / 1e9}});
    }
  }
  return {{"instructions", InstructionsInUse()},
          {"threads", ThreadCount()},
          {"clock_ghz", clock / 1e9},
          {"megabytes", options.megabytes},
          {"products", std::move(products)},
          {"streams", std::move(streams)}};
}

std::string Number(const Json& row, const char* key, int digits) {
  return row.contains(key) ? FixedText(row[key].get<double>(), digits) : "-";
}

std::string TextOf(const Json& all) {
  TextTable products;
  products.columns = {{"instruction"},        {"factors"},
                      {"threads", true},      {"GFLOP/s", true},
                      {"FLOP a cycle", true}, {"oneDNN's best product", true},
                      {"of peak", true}};
  for (const Json& row : all["products"]) {
    const bool held = row.contains("share_of_peak");
    products.rows.push_back(
        {row["instruction"].get<std::string>(), row["factors"].get<std::string>(),
         row["threads"].dump(), Number(row, "gflops", 0), Number(row, "flop_per_cycle", 0),
         Number(row, "best_product_gflops", 0),
         held ? FixedText(100 * row["share_of_peak"].get<double>(), 0) + "%" : "-"});
  }
  TextTable streams;
  streams.columns = {{"memory"}, {"threads", true}, {"GB/s", true}};
  for (const Json& row : all["streams"]) {
    streams.rows.push_back(
        {row["stream"].get<std::string>(), row["threads"].dump(), Number(row, "gb_per_second", 1)});
  }
  return "Instructions in use: " + all["instructions"].get<std::string>() + "; " +
         Number(all, "clock_ghz", 2) + " GHz\n\n" + ToText(products) + "\nArrays of " +
         all["megabytes"].dump() + " MB, bytes that are read and written:\n\n" + ToText(streams);
}

void Bench(const BenchOptions& options) {
  const Json all = Measure(options);
  std::cout << (options.json ? all.dump(2) + "\n" : TextOf(all));
}

}  // namespace
}  // namespace frugal

int main(int count, char** words) {
  return frugal::RunProgram([&] { frugal::Bench(frugal::ReadOptions(count, words)); });
}
