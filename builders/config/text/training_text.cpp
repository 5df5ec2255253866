#include "builders/config/text/training_text.h"

#include <algorithm>
#include <array>
#include <map>

#include "builders/config/run_config_reader.h"
#include "builders/config/sharding_rules.h"
#include "builders/config/text/config_text.h"
#include "builders/config/text/config_values.h"
#include "presets/config/resolved.h"
#include "presets/config/value.h"
#include "presets/memory_fields.h"

namespace frugal {
namespace {

constexpr std::string_view kAccumulation = "training.gradient_accumulation_steps";

// Sections whose values never change a number, and values of others that do not.
constexpr auto kFreeSections = std::to_array<std::string_view>({"memory", "output", "snapshots"});
constexpr auto kFreeKeys = std::to_array<std::string_view>(
    {"model.name", "model.allow_missing", "training.epochs", "training.max_steps",
     "training.threads", "training.evaluate", "training.evaluate_every",
     "training.evaluation_batch_size", "training.metrics", "training.best_by", "training.patience",
     "training.on_divergence", "sharding.zero_stage", "sharding.bucket_kb", "sharding.schedule",
     "data.test_limit", "diffusion.sampler", "diffusion.sampler_steps", "diffusion.guidance"});
// With a rate that falls where evaluations get no better, these change numbers too.
constexpr auto kPlateauKeys = std::to_array<std::string_view>(
    {"training.evaluate", "training.evaluate_every", "training.best_by", "data.test_limit",
     "training.evaluation_batch_size"});

bool IsFree(const ResolvedValue& value, const std::string& key, bool plateau) {
  if (std::ranges::find(kFreeSections, value.section) != kFreeSections.end()) return true;
  if (plateau && std::ranges::find(kPlateauKeys, key) != kPlateauKeys.end()) return false;
  return std::ranges::find(kFreeKeys, key) != kFreeKeys.end();
}

// Replicas sum their gradients as so many groups of one device do, and a pipeline those of its
// micro-batches as one device that accumulates them.
std::int64_t GroupsOf(const RunConfig& config) {
  return config.sharding.reduction_groups.value_or(config.sharding.data_parallel);
}
std::int64_t PartsOf(const RunConfig& config) {
  return config.sharding.data_parallel * MicroBatchesOf(config);
}

using Values = std::map<std::string, ResolvedValue>;

Values ValuesOf(const RunConfig& config, bool with_network) {
  const bool plateau = config.schedule.kind == ScheduleKind::kPlateau;
  Values values;
  for (ResolvedValue& value : AllValues(config)) {
    const std::string key = value.section + "." + value.name;
    if (IsFree(value, key, plateau) || value.section == "sharding" || key == kAccumulation) {
      continue;
    }
    if (value.section.starts_with("model.") && !with_network) continue;
    values.emplace(key, std::move(value));
  }
  return values;
}

std::string TextOf(const Values& values, const std::string& key) {
  const auto found = values.find(key);
  if (found == values.end()) return "not there";
  return IsNone(found->second.value) ? "none" : ToString(found->second.value);
}

bool IsPlanners(const Values& values, const std::string& key) {
  const auto found = values.find(key);
  return found != values.end() && found->second.origin.kind == OriginKind::kPlanner;
}

// A section without what the planner chose and will choose again.
std::string StatedText(const std::string& section, const FieldTable& table, const void* object,
                       const Origins& origins) {
  const auto is_stated = [&](const std::string& name) {
    const std::string key = section + "." + name;
    return key == kAccumulation || origins.Of(key).kind != OriginKind::kPlanner;
  };
  return SectionText(section, ChangedLines(table, object, is_stated));
}

bool Describes(const RunConfig& config) {
  return (config.model.architecture || !config.model.layers.empty()) &&
         !WhyUndescribed(config.model);
}

}  // namespace

std::string TrainingText(const RunConfig& config) {
  RunConfig copy = config;  // sections give access to a configuration that can be changed
  const bool described = Describes(config);
  std::string text = described ? ModelText(config.model) : "";
  for (const Section& section : Sections()) {
    if (section.name == "model") continue;
    text += StatedText(section.name, section.fields(), section.in(copy), config.origins);
  }
  return text + StatedText("memory", MemoryFields(), &copy.memory, config.origins);
}

std::vector<ConfigDifference> DifferencesInNumbers(const RunConfig& before, const RunConfig& now) {
  const bool with_network = Describes(before) && Describes(now);
  const Values old = ValuesOf(before, with_network), fresh = ValuesOf(now, with_network);
  std::vector<ConfigDifference> differences;
  const auto compare = [&](const std::string& key) {
    if (IsPlanners(old, key) || IsPlanners(fresh, key)) return;
    const ConfigDifference difference{key, TextOf(old, key), TextOf(fresh, key)};
    if (difference.before != difference.now) differences.push_back(difference);
  };
  for (const auto& [key, value] : old) compare(key);
  for (const auto& [key, value] : fresh) {
    if (!old.contains(key)) compare(key);
  }
  const auto count = [&](const char* key, std::int64_t one, std::int64_t other) {
    if (one != other) differences.push_back({key, std::to_string(one), std::to_string(other)});
  };
  count("sharding.reduction_groups", GroupsOf(before), GroupsOf(now));
  count("the number of micro-batches of all replicas", PartsOf(before), PartsOf(now));
  return differences;
}

}  // namespace frugal
