#include "builders/config/snapshot_rules.h"

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
}

}  // namespace frugal
