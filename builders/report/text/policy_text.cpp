#include "builders/report/text/policy_text.h"

#include <algorithm>

#include "builders/config/text/config_values.h"
#include "builders/report/text/text_table.h"
#include "presets/config/resolved.h"
#include "presets/memory_fields.h"
#include "sdk/backend/instruction_limit.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

std::string Megabytes(std::int64_t megabytes) { return FormatCount(megabytes) + " MB"; }

std::string Plural(std::int64_t count, const std::string& noun) {
  return FormatCount(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string CheckpointPhrase(const TrainingMemoryConfig& memory) {
  const bool chosen = memory.memory_budget_mb && !memory.use_gradient_checkpointing;
  if (chosen) return "no checkpointing but what the budget chose";
  if (!memory.use_gradient_checkpointing) return "no checkpointing";
  const std::int64_t every = memory.checkpoint_every_n_layers;
  std::string text = "checkpointing every ";
  text += every == 1 ? "layer" : FormatCount(every) + " layers";
  std::string but;
  if (!memory.checkpoint_attention_layers) but += "attention runs once";
  if (!memory.checkpoint_residual_blocks) {
    but += std::string(but.empty() ? "" : ", ") + "residual blocks run once";
  }
  if (const auto threshold = memory.high_activation_memory_threshold_bytes) {
    but += (but.empty() ? "" : ", ") +
           ("layers that keep over " + FormatBytes(*threshold) + " on their own");
  }
  if (memory.checkpoint_planning == CheckpointPlanning::kLeastPeak) {
    return "checkpointing planned for the least peak";
  }
  if (memory.checkpoint_planning == CheckpointPlanning::kFastest) {
    but += (but.empty() ? "" : ", ") + std::string("or faster at no higher peak");
  }
  return but.empty() ? text : text + " (" + but + ")";
}

std::string ActivationPhrase(const TrainingMemoryConfig& memory) {
  if (!memory.use_activation_pooling) return "activations from the heap";
  return "activations in one arena, up to " + Megabytes(memory.max_pool_memory_mb) +
         " kept between steps";
}

std::string TensorPhrase(const TrainingMemoryConfig& memory) {
  const TensorPoolOptions pool = memory.tensor_pool_options.value_or(TensorPoolOptions());
  if (!memory.use_tensor_pooling || !pool.enabled) return "weights from the heap";
  return std::string("weights from ") +
         (memory.use_shared_tensor_pool ? "the process's pool" : "a pool of their own") +
         ", up to " + Megabytes(pool.max_pool_size_mb) + " idle";
}

std::string InitializationPhrase(const TrainingMemoryConfig& memory) {
  switch (memory.default_initialization_strategy) {
    case InitializationStrategy::kEager:
      return "weights made at once";
    case InitializationStrategy::kLazy:
      return "weights made at first use";
    case InitializationStrategy::kZero:
      return "weights start at zero";
    case InitializationStrategy::kFromFile:
      break;
  }
  return "weights read from " + memory.weights_file_path.value_or("a file");
}

void AddSchedule(const ScheduleOptions& schedule, std::vector<std::string>& phrases) {
  if (schedule.kind == ScheduleKind::kStep && !schedule.function) {
    phrases.push_back("times " + CompactText(schedule.step_factor, 6) + " every " +
                      Plural(schedule.step_every, "step"));
  } else if (schedule.function) {
    phrases.push_back("a schedule of the program's own" +
                      (schedule.name.empty() ? "" : ", " + schedule.name));
  } else if (schedule.kind != ScheduleKind::kConstant) {
    std::string name(NameOf(schedule.kind));
    std::ranges::replace(name, '_', ' ');
    phrases.push_back(name + " schedule");
  }
  if (schedule.warmup_steps > 0) {
    phrases.push_back(Plural(schedule.warmup_steps, "step") + " warm-up");
  }
}

}  // namespace

std::vector<std::string> PolicyPhrases(const TrainingMemoryConfig& memory) {
  std::vector<std::string> phrases = {CheckpointPhrase(memory), ActivationPhrase(memory),
                                      TensorPhrase(memory), InitializationPhrase(memory)};
  if (const auto limit = memory.max_memory_per_device_mb) {
    phrases.push_back("at most " + Megabytes(*limit) + " in all");
  }
  if (memory.track_memory_statistics) phrases.emplace_back("statistics tracked");
  return phrases;
}

std::string PresetOf(const RunConfig& config) {
  for (const auto& value : Resolve(MemoryFields(), &config.memory, "memory", config.origins)) {
    if (value.origin.kind != OriginKind::kPreset) continue;
    const Origin& key = config.origins.Of("memory.preset");
    const Origin named = key.location.empty() ? Origin::At(value.origin.location) : key;
    const std::string& began = config.memory.began_as.preset;
    return (began.empty() ? value.origin.preset : began) +
           (named.location.empty() ? "" : " (" + BriefText(named) + ")");
  }
  return "";
}

std::vector<std::string> OptimizerPhrases(const RunConfig& config) {
  const OptimizerOptions& options = config.optimizer;
  std::vector<std::string> phrases = {std::string(NameOf(options.kind)),
                                      "lr " + CompactText(options.lr, 6)};
  if (options.momentum > 0) {
    phrases.push_back("momentum " + CompactText(options.momentum, 6) +
                      (options.nesterov ? " (Nesterov)" : ""));
  }
  if (options.weight_decay > 0) {
    phrases.push_back("weight decay " + CompactText(options.weight_decay, 6));
  }
  if (options.state != StateFormat::kF32) {
    phrases.push_back("state in " + std::string(NameOf(options.state)));
  }
  AddSchedule(config.schedule, phrases);
  if (!options.lr_multiplier_for.empty()) {
    phrases.push_back("lr_multiplier " + CompactText(options.lr_multiplier, 6) + " for " +
                      Printable(JoinWithCommas(options.lr_multiplier_for)));
  }
  const std::vector<std::string>& frozen = config.training.frozen;
  if (!frozen.empty()) phrases.push_back("frozen (" + Printable(JoinWithCommas(frozen)) + ")");
  const double clip = config.training.clip_gradient_norm;
  if (clip > 0) phrases.push_back("gradients clipped to norm " + CompactText(clip, 6));
  return phrases;
}

std::string ComputeText(const TrainingOptions& training) {
  const std::int64_t threads = training.threads > 0 ? training.threads : ThreadCount();
  const bool fast = training.backend == BackendKind::kOneDnn;
  const std::string limit(fast ? InstructionLimit() : "");
  return std::string(fast ? "oneDNN" : "Eigen") + " " +
         std::string(NameOf(DTypeOf(training.precision))) + ", " + Plural(threads, "thread") +
         (limit.empty() ? "" : ", no more than " + limit + " (FRUGAL_ISA)");
}

}  // namespace frugal
