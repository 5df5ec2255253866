#pragma once

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "builders/frugal.h"
#include "presets/memory_presets.h"
#include "tests/benchmarks/peer_root.h"
#include "tests/benchmarks/workloads.h"

namespace frugal {

struct CompareOptions {
  std::vector<std::string> workloads;  // empty = all
  std::vector<std::string> precisions = {"f32", "bf16"};
  bool precisions_given = false;
  std::string preset = "SpeedOptimized";  // of ours
  std::int64_t budget_mb = 0;             // of ours, where above 0
  std::int64_t batch = 0;                 // samples, of both; 0 = each workload's own
  std::string peer_root;                  // PyTorch runs in it; empty = in this one
  int repetitions = 3;
  bool json = false;
};

// Returns true where bf16 products run in instructions for them.
inline bool ComputesInBf16() {
  return MakeOneDnnBackend()->ProductType(DType::kBF16) == DType::kBF16;
}

[[noreturn]] inline void RefuseCompare(const std::string& given) {
  throw UsageError({.where = "bench_compare",
                    .required =
                        "[--workloads NAME,...] [--precision f32,bf16,f32x3] [--preset NAME] "
                        "[--budget MB] [--batch N] [--peer-root DIR] [--repetitions N] [--json]",
                    .given = "'" + given + "'",
                    .advice = "e.g. --workloads chargpt,gpt2 --precision f32"});
}

inline std::vector<std::string> SplitNames(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream text(list);
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

inline void CheckCompare(const CompareOptions& options) {
  const std::vector<Workload> known = Workloads();
  for (const std::string& name : options.workloads) {
    const bool found = std::ranges::any_of(known, [&](const auto& w) { return w.name == name; });
    if (!found) RefuseCompare("--workloads " + name);
  }
  for (const std::string& name : options.precisions) {
    if (name != "f32" && name != "bf16" && name != "f32x3") RefuseCompare("--precision " + name);
  }
  PresetByName(options.preset);
}

inline CompareOptions ReadCompareOptions(int count, char** words) {
  CompareOptions options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--json") {
      options.json = true;
      continue;
    }
    const std::string value = i + 1 < count ? words[++i] : "";
    if (word == "--workloads" && !value.empty()) {
      options.workloads = SplitNames(value);
    } else if (word == "--precision" && !value.empty()) {
      options.precisions = SplitNames(value);
      options.precisions_given = true;
    } else if (word == "--preset" && !value.empty()) {
      options.preset = value;
    } else if (word == "--budget" && std::atoll(value.c_str()) >= 1) {
      options.budget_mb = std::atoll(value.c_str());
    } else if (word == "--batch" && std::atoll(value.c_str()) >= 1) {
      options.batch = std::atoll(value.c_str());
    } else if (word == "--peer-root" && !value.empty()) {
      options.peer_root = CheckedPeerRoot(value);
    } else if (word == "--repetitions" && std::atoi(value.c_str()) >= 1) {
      options.repetitions = std::atoi(value.c_str());
    } else {
      RefuseCompare(value.empty() ? word : word + " " + value);
    }
  }
  CheckCompare(options);
  return options;
}

}  // namespace frugal
