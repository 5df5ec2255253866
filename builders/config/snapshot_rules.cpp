#include "builders/config/snapshot_rules.h"

#include <algorithm>

#include "presets/config/value.h"

namespace frugal {
namespace {

// A value that only counts beside another one.
struct Dependent {
  const char* key;
  bool given;
  bool counts;
  const char* needs;
  const char* advice;
};

void Refuse(const RunConfig& config, const Dependent& one, Diagnostics& diagnostics) {
  const std::string where = std::string("snapshots.") + one.key;
  diagnostics.Add(config.origins.PlaceOf(where),
                  {.where = where,
                   .required = std::string("it counts ") + one.needs,
                   .given = std::string(one.key) + " is set without that",
                   .advice = one.advice});
}

bool IsMeasured(const RunConfig& config, const std::string& name) {
  const std::vector<std::string>& metrics = config.training.metrics;
  return name == "loss" || name == "accuracy" || name.ends_with("_loss") ||
         name.ends_with("_accuracy") || std::ranges::find(metrics, name) != metrics.end();
}

}  // namespace

void CheckSnapshotRules(const RunConfig& config, Diagnostics& diagnostics) {
  const SnapshotOptions& options = config.snapshots;
  const SnapshotOptions defaults;
  const bool has_directory = options.directory.has_value();
  constexpr const char* kDirectory = "with snapshots.directory";
  constexpr const char* kName = "name a directory for snapshots";
  constexpr const char* kBest = "with snapshots.keep_best above 0";
  for (const Dependent& one : {
           Dependent{"every_n_steps", options.every_n_steps.has_value(), has_directory, kDirectory,
                     kName},
           Dependent{"every_minutes", options.every_minutes.has_value(), has_directory, kDirectory,
                     kName},
           Dependent{"keep_last", options.keep_last != defaults.keep_last, has_directory,
                     kDirectory, kName},
           Dependent{"keep_best", options.keep_best != defaults.keep_best, has_directory,
                     kDirectory, kName},
           Dependent{"on_exit", options.on_exit != defaults.on_exit, has_directory, kDirectory,
                     kName},
           Dependent{"background", options.background != defaults.background, has_directory,
                     kDirectory, kName},
           Dependent{"monitor", options.monitor != defaults.monitor, options.keep_best > 0, kBest,
                     "set keep_best, or leave the monitor out"},
           Dependent{"mode", options.mode.has_value(), options.keep_best > 0, kBest,
                     "set keep_best, or leave the mode out"},
           Dependent{"when_busy", options.when_busy != defaults.when_busy,
                     has_directory && options.background, "for snapshots in the background",
                     "leave it out: training waits for those that are not"},
       }) {
    if (one.given && !one.counts) Refuse(config, one, diagnostics);
  }
  if (options.keep_best > 0 && !IsMeasured(config, options.monitor)) {
    diagnostics.Add(config.origins.PlaceOf("snapshots.monitor"),
                    {.where = "snapshots.monitor",
                     .required = "\"loss\", \"accuracy\" of labels, or one of training.metrics",
                     .given = QuoteToml(options.monitor),
                     .advice = "add it to training.metrics"});
  }
  if (options.keep_best > 0 && !config.training.evaluate && !config.training.evaluate_every) {
    diagnostics.Add(config.origins.PlaceOf("snapshots.keep_best"),
                    {.where = "snapshots.keep_best",
                     .required = "evaluations tell which snapshots are the best",
                     .given = "training.evaluate is false",
                     .advice = "evaluate, or set keep_best to 0"});
  }
}

}  // namespace frugal
