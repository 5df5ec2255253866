#include "builders/report/rows/plan_phrases.h"

#include <algorithm>
#include <functional>

#include "builders/budget/budget_limit.h"
#include "builders/budget/paging_choice.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

std::string SegmentsPhrase(const RecomputedStages& recomputed) {
  std::string text = RunAgainPhrase(recomputed.stages, recomputed.segments, recomputed.depth);
  if (recomputed.more_time) {
    text += ": " + PercentText(*recomputed.more_time) +
            " more time in forward and backward passes is predicted";
  }
  return text + " (" + recomputed.method + ")";
}

std::string PagingPhrase(const BudgetPlan& budget) {
  const StepSettings& settings = budget.chosen;
  return "page file for " + PagedPhrase(PagedPartsOf(settings)) + ": a step reads " +
         FormatBytes(budget.paged.in_bytes) + " and writes " + FormatBytes(budget.paged.out_bytes) +
         ", which takes the disk " + DurationText(budget.page_seconds) +
         ", beside the passes, at the rate that was measured";
}

std::string AccumulationPhrase(const BudgetPlan& budget) {
  const std::string steps = std::to_string(budget.chosen.micro_batches);
  return "gradient_accumulation_steps = " + steps + ": a batch goes through in " + steps +
         " parts, since nothing that changes no bit fits; their gradients " +
         "add up in another order" + (budget.has_dropout ? ", and dropout draws other masks" : "");
}

// "gradient_accumulation_steps = 4, loss_chunk_rows = 64"
std::string RoundingPhrase(const StepSettings& settings, const StepSettings& before) {
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

std::string RunAgainPhrase(std::int64_t stages, std::int64_t segments, std::int64_t depth) {
  return FormatCount(stages) + (stages == 1 ? " stage in " : " stages in ") +
         FormatCount(segments) + (segments == 1 ? " segment" : " segments") +
         (depth > 1 ? ", nested " + FormatCount(depth) + " deep," : "") +
         (stages == 1 ? " keeps only its input and runs again"
                      : " keep only their inputs and run again");
}

std::string PagedPhrase(const PagedParts& paged) {
  std::vector<std::string> parts;
  if (paged.kinds != PagedKinds::kNone) parts.emplace_back("optimizer state");
  if (paged.kinds == PagedKinds::kWeights) parts.emplace_back("weights");
  if (paged.activations) {
    const std::int64_t most = paged.most_activation_bytes;
    parts.push_back((most > 0 ? "the first " + FormatBytes(most) + " of " : std::string()) +
                    "what forward passes keep");
  }
  if (parts.empty()) return "nothing";
  std::string text = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    text += (i + 1 < parts.size() ? ", " : " and ") + parts[i];
  }
  return text;
}

std::string BudgetSummary(const BudgetPlan& budget) {
  std::string text = WholeMegabytes(budget.budget_bytes) + " (" + SourceText(budget.origin) +
                     "): " + WholeMegabytes(budget.planned_bytes) +
                     " planned, gaps of the layout included, " +
                     WholeMegabytes(budget.unconstrained_bytes) + " with nothing chosen";
  const std::string times = FixedText(budget.predicted_slowdown, 2) + " times";
  if (budget.predicted_seconds) {
    return text + "; a step of " + FixedText(1000 * *budget.predicted_seconds, 1) + " ms" +
           " is predicted by measured costs, " + times + " that with nothing chosen";
  }
  if (budget.predicted_slowdown <= 1) return text;
  return text + "; predicted time of passes " + times;
}

std::vector<std::string> ChoicePhrases(const BudgetPlan& budget) {
  const StepSettings& before = budget.unconstrained;
  const StepSettings& after = budget.chosen;
  std::vector<std::string> phrases;
  if (budget.recomputed.segments > 0) phrases.push_back(SegmentsPhrase(budget.recomputed));
  if (after.use_gradient_checkpointing && !before.use_gradient_checkpointing) {
    phrases.emplace_back(
        "use_gradient_checkpointing = true, with the segments that the configuration describes");
  }
  if (after.optimizer_in_backward != before.optimizer_in_backward) {
    phrases.emplace_back(
        "optimizer_in_backward = true: gradients are freed as they are used, at no cost in time");
  }
  if (after.evaluation_batch != before.evaluation_batch) {
    phrases.push_back("evaluation_batch_size = " + std::to_string(after.evaluation_batch) +
                      " instead of " + std::to_string(before.evaluation_batch) +
                      ": evaluation would not fit; its sums are grouped differently");
  }
  if (after.micro_batches != before.micro_batches) phrases.push_back(AccumulationPhrase(budget));
  if (after.loss_chunk_rows != before.loss_chunk_rows) {
    phrases.push_back("loss_chunk_rows = " + std::to_string(*after.loss_chunk_rows) +
                      ": the loss takes fewer rows at a time, since nothing that changes no bit "
                      "fits; their gradients add up in another order");
  }
  if (after.pages()) phrases.push_back(PagingPhrase(budget));
  if (phrases.empty()) phrases.emplace_back("nothing: all fits as it is");
  return phrases;
}

std::string BoundPhrase(const BudgetPlan& budget) {
  if (!budget.recomputed.bounds) return "";
  return "no segments that peak as low take less than " +
         PercentText(budget.recomputed.bounds->as_low) +
         " of that time, none within the budget less than " +
         PercentText(budget.recomputed.bounds->within_budget) +
         ", by the planner's model of bytes and times";
}

std::string FasterPhrase(const BudgetPlan& budget) {
  if (!budget.faster) return "";
  return RoundingPhrase(budget.faster->settings, budget.unconstrained) + " would take " +
         FixedText(budget.faster->slowdown, 2) +
         " times as long as with nothing chosen; not chosen, since gradients would add up in "
         "another order" +
         (budget.has_dropout ? ", and dropout draw other masks" : "") + ": state it to train so";
}

std::vector<std::string> PagingPhrases(const Plan& plan, std::size_t count) {
  if (!plan.paging) return {};
  const PagingPlan& paging = *plan.paging;
  std::vector<Holder> all = paging.tensors;
  all.insert(all.end(), paging.activations.begin(), paging.activations.end());
  std::ranges::stable_sort(all, std::greater(), &Holder::bytes);
  const std::int64_t bytes = PagedBytesOf(paging);
  const PagingTraffic traffic = plan.steps.empty() ? PagingTraffic() : plan.steps.front().paged;
  std::vector<std::string> phrases = {
      FormatBytes(bytes) + " of " + FormatCount(std::ssize(all)) + " tensors lie in " +
          (plan.devices ? "page files (" : "a page file (") + paging.file +
          ") while nothing uses them",
      "a step reads " + FormatBytes(traffic.in_bytes) + " and writes " +
          FormatBytes(traffic.out_bytes) + ", through " + FormatBytes(paging.buffer_bytes) +
          " of memory"};
  std::string largest;
  for (std::size_t i = 0; i < std::min(count, all.size()); ++i) {
    const Holder& tensor = all[i];
    largest += (i == 0 ? "the largest: " : ", ") + std::string(NameOf(tensor.tag)) + " of " +
               tensor.label + " (" + FormatBytes(tensor.bytes) + ")";
  }
  if (!largest.empty()) phrases.push_back(largest);
  return phrases;
}

std::vector<std::string> SideBySidePhrases(const StepPlan& step, std::size_t count) {
  std::vector<std::string> phrases;
  for (const SimultaneousBuffers& one : step.side_by_side) {
    if (phrases.size() == count) break;
    phrases.push_back(std::string(NameOf(one.tag)) + " of " + one.label + ": " +
                      std::to_string(one.count) + " x " + FormatBytes(one.bytes));
  }
  return phrases;
}

}  // namespace frugal
