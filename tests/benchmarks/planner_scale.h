#pragma once

#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "builders/ai_model_builder.h"
#include "builders/budget/budget_search.h"
#include "builders/plan/planner.h"
#include "builders/plan/published_models.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"
#include "sdk/memory/arena_layout.h"
#include "sdk/memory/system_memory.h"
#include "tests/benchmarks/forked.h"
#include "tests/support/many_lifetimes.h"

namespace frugal {

// Counts seconds of this process, which a busy machine lengthens little: planning has one thread.
inline double SecondsSince(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// Holds what laying out a trace takes: bytes beside the trace, at most, and of the layout alone.
struct LayoutCost {
  double seconds = 0;
  double over_bound = 0;  // extent of the arena, as a multiple of the lower bound
  std::int64_t most_bytes = 0;
  std::int64_t layout_bytes = 0;
};

inline LayoutCost MeasureLayout(testing::LifetimePattern pattern, std::int64_t count) {
  const testing::ManyLifetimes many(pattern, count);
  ReturnFreeMemory();
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak is that from here on
  const std::int64_t before = ResidentBytes();
  const std::clock_t start = std::clock();
  const ArenaLayout layout = PlaceInArena(many.trace());
  LayoutCost cost{.seconds = SecondsSince(start), .most_bytes = PeakResidentBytes() - before};
  cost.over_bound =
      static_cast<double>(layout.arena_bytes) / static_cast<double>(layout.lower_bound_bytes);
  cost.layout_bytes = std::ssize(layout.items) * std::int64_t{sizeof(ArenaLayout::Item)};
  return cost;
}

// Lays out so many buffers of each pattern, each in a process of its own.
inline void PrintLayouts(std::int64_t count) {
  TextTable table;
  table.columns = {{FormatCount(count) + " buffers"},
                   {"s", true},
                   {"of the bound", true},
                   {"MB beside the trace", true},
                   {"layout MB", true}};
  const auto megabytes = [](std::int64_t bytes) {
    return FixedText(static_cast<double>(bytes) / static_cast<double>(kBytesPerMegabyte), 1);
  };
  for (const testing::LifetimePattern pattern : testing::kLifetimePatterns) {
    const auto cost = InChildProcess([&] { return MeasureLayout(pattern, count); });
    if (!cost) continue;
    table.rows.push_back({std::string(testing::NameOf(pattern)), FixedText(cost->seconds, 2),
                          FixedText(cost->over_bound, 4), megabytes(cost->most_bytes),
                          megabytes(cost->layout_bytes)});
  }
  std::cout << ToText(table);
}

// A training whose network has so many layers.
inline RunConfig DeepConfig(bool dense, std::int64_t layers, DataLayout& layout) {
  if (!dense) {
    const RunConfig config =
        NamedModelConfig("gpt2", {"model.config.n_layer=" + std::to_string(layers)});
    layout = LayoutWithoutData(config);
    return config;
  }
  layout = {.sample_shape = {32}, .classes = 5, .target_shape = {}, .train_count = 640};
  AiModelBuilder builder;
  builder.Layers([&](LayerList& list) {
    for (std::int64_t i = 0; i < layers; ++i) list.Dense({.units = 32});
    list.Dense({.units = 5});
  });
  return builder.Training({.batch_size = 64}).config();
}

// Plans networks of so many layers without a budget, within one that is met, halfway between the
// least and what nothing chosen takes, and within one that is refused, a twentieth below the least
// or the half of it.
inline void PrintPlanning(const std::vector<std::int64_t>& counts) {
  TextTable table;
  table.columns = {{"network"},         {"layers", true},    {"no budget s", true}, {"met s", true},
                   {"mean time", true}, {"refused s", true}, {"half of it s", true}};
  for (const std::int64_t layers : counts) {
    for (const bool dense : {true, false}) {
      DataLayout layout;
      RunConfig config = DeepConfig(dense, layers, layout);
      std::vector<std::string> row = {dense ? "dense" : "gpt2", FormatCount(layers)};
      double slowdown = 0;
      const auto seconds_within = [&](std::int64_t bytes) {
        if (bytes > 0) {
          config.memory.memory_budget_mb = MemoryBudget{.megabytes = bytes / kBytesPerMegabyte};
        }
        const std::clock_t start = std::clock();
        try {
          const PlannedTraining planned = PlanTraining(config, &layout);
          if (planned.plan.budget) slowdown = planned.plan.budget->predicted_slowdown;
        } catch (const MemoryError&) {
          slowdown = 0;
        }
        return FixedText(SecondsSince(start), 2);
      };
      row.push_back(seconds_within(0));
      const TrainingSetup setup = PrepareTraining(config, &layout);
      BudgetSearch search(setup, 0);
      const std::int64_t least = search.Least().footprint.bytes;
      row.push_back(seconds_within((least + search.unconstrained().footprint.bytes) / 2));
      row.push_back(FixedText(slowdown, 4));
      row.push_back(seconds_within(least / 20 * 19));
      row.push_back(seconds_within(least / 2));
      table.rows.push_back(std::move(row));
    }
  }
  std::cout << ToText(table);
}

}  // namespace frugal
