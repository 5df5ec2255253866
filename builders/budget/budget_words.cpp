#include "builders/budget/budget_words.h"

#include <algorithm>

#include "sdk/core/number_text.h"

namespace frugal {
namespace {

std::size_t DepthOf(const CheckpointSegments& segments) {
  std::size_t depth = 0;
  for (const CheckpointSegment& segment : segments) {
    depth = std::max(depth, 1 + DepthOf(segment.inner));
  }
  return depth;
}

std::string SegmentsText(const BudgetCandidate& chosen, const BudgetCandidate& unconstrained) {
  const CheckpointSegments& segments = chosen.chain.segments;
  std::size_t covered = 0;
  for (const CheckpointSegment& segment : segments) covered += segment.end - segment.begin;
  const std::size_t depth = DepthOf(segments);
  std::string text = std::to_string(covered) + (covered == 1 ? " stage in " : " stages in ") +
                     std::to_string(segments.size()) +
                     (segments.size() == 1 ? " segment" : " segments") +
                     (depth > 1 ? ", nested " + std::to_string(depth) + " deep," : "") +
                     " keep only their inputs and run again";
  const double before = unconstrained.chain.cost.seconds;
  if (before > 0 && chosen.settings.micro_batches == unconstrained.settings.micro_batches) {
    text += ": " + PercentText(chosen.chain.cost.seconds / before - 1) +
            " more time in forward and backward passes is predicted";
  }
  return text + " (" + chosen.chain.method + ")";
}

std::string AccumulateText(const TrainingSetup& setup, std::int64_t parts) {
  return "gradient_accumulation_steps = " + std::to_string(parts) + ": a batch goes through in " +
         std::to_string(parts) +
         " parts, since nothing that changes no bit fits; their gradients " +
         "add up in another order" + (HasDropout(setup) ? ", and dropout draws other masks" : "");
}

// "gradient_accumulation_steps = 4, loss_chunk_rows = 64"
std::string RoundingText(const StepSettings& settings, const StepSettings& before) {
  std::string text;
  if (settings.micro_batches != before.micro_batches) {
    text = "gradient_accumulation_steps = " + std::to_string(settings.micro_batches);
  }
  if (settings.loss_chunk_rows != before.loss_chunk_rows) {
    text += (text.empty() ? "" : ", ") + std::string("loss_chunk_rows = ") +
            std::to_string(*settings.loss_chunk_rows);
  }
  return text;
}

}  // namespace

std::string FasterText(const TrainingSetup& setup, const BudgetCandidate& faster,
                       const BudgetCandidate& unconstrained) {
  return RoundingText(faster.settings, unconstrained.settings) + " would take " +
         FixedText(faster.seconds / unconstrained.seconds, 2) +
         " times as long as with nothing chosen; not chosen, since gradients would add up in "
         "another "
         "order" +
         (HasDropout(setup) ? ", and dropout draw other masks" : "") + ": state it to train so";
}

std::vector<std::string> ChoicesOf(const TrainingSetup& setup, const BudgetCandidate& chosen,
                                   const BudgetCandidate& unconstrained) {
  const StepSettings& before = unconstrained.settings;
  const StepSettings& after = chosen.settings;
  std::vector<std::string> choices;
  if (!chosen.chain.segments.empty()) choices.push_back(SegmentsText(chosen, unconstrained));
  if (after.use_gradient_checkpointing && !before.use_gradient_checkpointing) {
    choices.emplace_back(
        "use_gradient_checkpointing = true, with the segments that the configuration describes");
  }
  if (after.optimizer_in_backward != before.optimizer_in_backward) {
    choices.emplace_back(
        "optimizer_in_backward = true: gradients are freed as they are used, at no cost in time");
  }
  if (after.evaluation_batch != before.evaluation_batch) {
    choices.push_back("evaluation_batch_size = " + std::to_string(after.evaluation_batch) +
                      " instead of " + std::to_string(before.evaluation_batch) +
                      ": evaluation would not fit; its sums are grouped differently");
  }
  if (after.micro_batches != before.micro_batches) {
    choices.push_back(AccumulateText(setup, after.micro_batches));
  }
  if (after.loss_chunk_rows != before.loss_chunk_rows) {
    choices.push_back("loss_chunk_rows = " + std::to_string(*after.loss_chunk_rows) +
                      ": the loss takes fewer rows at a time, since nothing that changes no bit "
                      "fits; their gradients add up in another order");
  }
  if (choices.empty()) choices.emplace_back("nothing: all fits as it is");
  return choices;
}

}  // namespace frugal
