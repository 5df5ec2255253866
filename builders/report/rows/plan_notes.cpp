#include "builders/report/rows/plan_notes.h"

#include <utility>

#include "builders/plan/cautions.h"
#include "builders/plan/published_models.h"
#include "builders/report/rows/plan_phrases.h"
#include "presets/memory_rules.h"
#include "sdk/core/byte_size.h"

namespace frugal {
namespace {

std::string ShapeText(const NetworkInput& input) {
  return input.name + (input.shape.rank() > 0 ? " " + ToString(input.shape) : "");
}

void AddAssumptions(const PlannedTraining& planned, std::vector<std::string>& notes) {
  const std::string& name = planned.published_model;
  if (name.empty()) return;
  const DataLayout& layout = planned.layout;
  const NetworkInputs& inputs = planned.network->inputs();
  std::string assumed = "without data: assumes samples of ";
  assumed += inputs.empty() ? ToString(layout.sample_shape) : ShapeText(inputs.front());
  if (layout.vocabulary > 0) assumed += " tokens";
  for (const NetworkInput& condition : layout.conditions) assumed += ", " + ShapeText(condition);
  if (layout.classes == 0) assumed += "; targets of " + ToString(layout.target_shape);
  notes.push_back(std::move(assumed));
  notes.emplace_back(
      "without data: two steps, since the second finds the optimizer's state in place; memory of a "
      "data set is not in it");
  notes.push_back(name + ": " + PublishedAs(name));
}

void AddDevices(const TrainingMemoryConfig& memory, std::vector<std::string>& notes) {
  if (memory.num_devices > 1) return;
  if (memory.use_pipeline_parallelism) {
    notes.push_back("pipeline: one device is one stage, so the batch is not split into its " +
                    std::to_string(memory.micro_batch_count) + " micro-batches");
  } else if (memory.micro_batch_count != TrainingMemoryConfig().micro_batch_count) {
    notes.push_back("micro_batch_count = " + std::to_string(memory.micro_batch_count) +
                    " takes effect with a pipeline over several devices; here there is none");
  }
  if (memory.sharding_strategy != ShardingStrategy::kEvenSplit) {
    notes.emplace_back("sharding_strategy: with one device every strategy puts all layers on it");
  }
}

void AddUpdates(const PlannedTraining& planned, std::vector<std::string>& notes) {
  if (!planned.config.memory.optimizer_in_backward) return;
  const std::int64_t parts = planned.config.training.gradient_accumulation_steps;
  const std::string bytes =
      FormatBytes(planned.plan.trainable_count * SizeOf(MasterType(planned.dtype())));
  if (planned.optimizer->clips()) {
    notes.push_back(
        "optimizer_in_backward saves nothing with clip_gradient_norm: the norm of all "
        "gradients must be known before the first update, so all " +
        bytes + " of them are kept until then");
  } else if (planned.updates_in_backward() && parts > 1) {
    notes.push_back("optimizer_in_backward frees gradients in the last of the " +
                    std::to_string(parts) + " parts of a batch; until then all " + bytes +
                    " of them add up");
  }
}

std::string LayersText(std::int64_t count) {
  return count == 1 ? "one layer" : FormatCount(count) + " layers";
}

std::string ChosenText(const PlannedSegments& planned) {
  if (planned.every_n_layers > 0) return "runs of " + LayersText(planned.every_n_layers);
  if (planned.segments == 0) return "nothing is computed twice";
  return RunAgainPhrase(planned.stages, planned.segments, 1);
}

std::string KindsText(const KindsPlan& kinds) {
  if (kinds.nested_blocks) {
    return "checkpoint_residual_blocks: runs are so long that blocks in them keep only their "
           "inputs "
           "too while a run is computed again; shorter runs take less time";
  }
  const std::string once = kinds.residual_blocks    ? "attention layers run"
                           : kinds.attention_layers ? "residual blocks run"
                                                    : "attention layers and residual blocks run";
  return "checkpointing: " + once + " once, as computing them again would not lower the peak";
}

void AddSegments(const Plan& plan, std::vector<std::string>& notes) {
  if (const auto& planned = plan.planned_segments; planned && planned->stated_peak_bytes > 0) {
    notes.push_back(
        "checkpoint_planning: " + ChosenText(*planned) +
        "; the runs that the fields state would peak at " +
        FormatBytes(planned->stated_peak_bytes) +
        (planned->updates_in_backward ? ", with updates in the backward pass too" : ""));
  }
  if (plan.kinds) notes.push_back(KindsText(*plan.kinds));
  if (plan.least_runs) {
    notes.push_back(
        "checkpoint_every_n_layers = " + std::to_string(plan.least_runs->every_n_layers) +
        " would peak least of all such runs, at " + FormatBytes(plan.least_runs->peak_bytes));
  }
}

// A page file that is stated is never without effect in silence.
void AddPaging(const PlannedTraining& planned, std::vector<std::string>& notes) {
  const RunConfig& config = planned.config;
  if (!config.memory.memory_page_file || !planned.trains()) return;
  const std::optional<PagingPlan>& paging = planned.plan.paging;
  if (planned.plan.budget && !paging) {
    notes.emplace_back("memory_page_file: nothing goes there, since the budget is met without it");
  }
  const std::int64_t paged = paging ? PagedBytesOf(*paging) : 0;
  if (paged > 0 && paged < paging->buffer_bytes) {
    notes.push_back("memory_page_file: the " + FormatBytes(paged) +
                    " that go there are less than the memory between, memory_page_buffer_mb = " +
                    std::to_string(config.memory.memory_page_buffer_mb) +
                    (planned.plan.devices ? " of each device" : ""));
  }
  if (paging && paged == 0) {
    notes.push_back(
        "memory_page_file: nothing goes there, since no tensor that would is as large "
        "as memory_page_least_kb = " +
        std::to_string(config.memory.memory_page_least_kb));
  }
  if (paged > 0 && planned.plan.devices) {
    notes.emplace_back("memory_page_file: times of several devices leave the disk out");
  }
  if (config.snapshots.stages()) {
    notes.emplace_back(
        "snapshots.background: training waits for its snapshots, since it has a page file");
  }
}

}  // namespace

std::vector<std::string> NotesOn(const PlannedTraining& planned) {
  std::vector<std::string> notes;
  AddAssumptions(planned, notes);
  for (std::string& caution : CautionsAbout(planned)) notes.push_back(std::move(caution));
  AddDevices(planned.config.memory, notes);
  AddUpdates(planned, notes);
  AddSegments(planned.plan, notes);
  AddPaging(planned, notes);
  for (std::string& note : IdleMemoryFields(planned.config.memory, planned.config.origins)) {
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace frugal
