#include "builders/report/text/plan_text.h"

#include "builders/budget/budget_limit.h"
#include "builders/plan/machine_memory.h"
#include "builders/report/rows/plan_notes.h"
#include "builders/report/rows/plan_phrases.h"
#include "builders/report/rows/step_choice.h"
#include "builders/report/text/device_table.h"
#include "builders/report/text/layer_table.h"
#include "builders/report/text/policy_text.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

constexpr std::size_t kShownHolders = 5;
constexpr std::size_t kWidth = 100;

// Phrases joined by `separator`, in lines that start under the first.
std::string Wrapped(const std::vector<std::string>& phrases, std::size_t indent,
                    const std::string& separator) {
  std::string text;
  std::size_t column = indent;
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    const std::string part = phrases[i] + (i + 1 < phrases.size() ? separator : "");
    if (i > 0 && column + 1 + CharacterCount(part) > kWidth) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (i > 0) {
      text += " ";
      ++column;
    }
    text += part;
    column += CharacterCount(part);
  }
  return text + "\n";
}

std::vector<std::string> WordsOf(const std::string& sentence) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', begin), sentence.size());
    words.push_back(sentence.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string Item(std::string name, const std::vector<std::string>& phrases,
                 const std::string& separator = ",") {
  constexpr std::size_t indent = 15;
  name.resize(indent - 2, ' ');
  return "  " + name + Wrapped(phrases, indent, separator);
}

std::string StepsText(const EpochSchedule& schedule, const TrainingOptions& training) {
  const std::int64_t whole = schedule.steps_per_epoch * training.epochs;
  const std::string product =
      FormatCount(training.epochs) + (training.epochs == 1 ? " epoch x " : " epochs x ") +
      FormatCount(schedule.steps_per_epoch) + " batches of " + FormatCount(schedule.batch);
  if (schedule.total_steps >= whole) return FormatCount(schedule.total_steps) + " = " + product;
  return FormatCount(schedule.total_steps) + " (max_steps) of " + FormatCount(whole) + " = " +
         product;
}

std::string HeadText(const PlannedTraining& planned) {
  const RunConfig& config = planned.config;
  const Plan& plan = planned.plan;
  const EpochSchedule& schedule = planned.schedule;
  std::vector<std::string> samples = {FormatCount(schedule.train_samples) + " to train on"};
  if (schedule.test_samples > 0)
    samples.push_back(FormatCount(schedule.test_samples) + " to test on");
  if (schedule.validation_samples > 0)
    samples.push_back(FormatCount(schedule.validation_samples) + " to validate on");
  const std::int64_t fixed = plan.parameter_count - plan.trainable_count;
  return "Plan of " + Printable(config.model.name) + "\n" +
         Item("parameters", {FormatCount(plan.parameter_count) +
                             (fixed > 0 ? " (" + FormatCount(fixed) + " of them fixed)" : "")}) +
         Item("samples", samples) + Item("steps", {StepsText(schedule, config.training)}) +
         Item("optimizer", OptimizerPhrases(config)) +
         Item("computed by", {ComputeText(config.training)});
}

std::string PolicyText(const RunConfig& config) {
  std::vector<std::string> phrases = PolicyPhrases(config.memory);
  const std::string preset = PresetOf(config);
  if (!preset.empty()) phrases.insert(phrases.begin(), "preset " + preset);
  for (std::string& phrase : phrases) phrase = Printable(phrase);
  return Item("policy", phrases, ";");
}

std::string BudgetText(const Plan& plan) {
  if (!plan.budget) return "";
  std::string text = Item("budget", WordsOf(Printable(BudgetSummary(*plan.budget))), "");
  for (const std::string& choice : ChoicePhrases(*plan.budget)) {
    text += Item("  chosen", WordsOf(Printable(choice)), "");
  }
  const std::string bound = BoundPhrase(*plan.budget);
  if (!bound.empty()) text += Item("  bound", WordsOf(Printable(bound)), "");
  const std::string faster = FasterPhrase(*plan.budget);
  return faster.empty() ? text : text + Item("  faster", WordsOf(Printable(faster)), "");
}

std::string PagingText(const Plan& plan) {
  std::string sentence;
  for (const std::string& phrase : PagingPhrases(plan, 3)) {
    sentence += (sentence.empty() ? "" : "; ") + Printable(phrase);
  }
  return sentence.empty() ? "" : Item("paging", WordsOf(sentence), "");
}

std::string DevicesItem(const Plan& plan) {
  return plan.devices ? Item("devices", WordsOf(MeshText(*plan.devices)), "") : "";
}

std::string MachineText(const PlannedTraining& planned, const SystemMemory& machine) {
  std::string limit =
      WholeMegabytes(machine.LimitBytes()) + " of " + std::string(NameOf(machine.LimitKind()));
  if (machine.LimitKind() == MemoryLimitKind::kControlGroup) {
    limit += " " + Printable(machine.control_group);
  }
  std::vector<std::string> phrases = {limit};
  if (machine.LimitBytes() < machine.physical_bytes) {
    phrases.push_back(WholeMegabytes(machine.physical_bytes) + " of physical memory");
  }
  if (machine.available_bytes) {
    phrases.push_back(WholeMegabytes(*machine.available_bytes) + " free now");
  }
  if (!FitsMachine(planned, machine)) {
    phrases.push_back("too little for the " + WholeMegabytes(NeededBytes(planned)) +
                      " of this plan: it is refused without --force");
  }
  return Item("machine", phrases);
}

std::string PurposeTable(const Plan& plan) {
  TextTable table;
  table.columns = {{"Memory by purpose"}, {"its own peak", true}, {"at the peak of all", true}};
  for (const MemoryTag tag : kAllMemoryTags) {
    if (plan.peak_by_purpose[tag] == 0) continue;
    table.rows.push_back({std::string(NameOf(tag)), FormatBytes(plan.peak_by_purpose[tag]),
                          FormatBytes(plan.at_peak[tag])});
  }
  table.rows.push_back({"all together", "", FormatBytes(plan.peak_bytes)});
  return ToText(table);
}

std::string ArenaText(const Plan& plan) {
  std::string text = FormatBytes(plan.arena_bytes);
  if (plan.live_lower_bound_bytes > 0) {
    const double ratio =
        static_cast<double>(plan.arena_bytes) / static_cast<double>(plan.live_lower_bound_bytes);
    text += plan.arena_bytes == plan.live_lower_bound_bytes
                ? ", the least that any layout can do with"
                : ", " + PercentText(ratio - 1) + " over the lower bound of " +
                      FormatBytes(plan.live_lower_bound_bytes);
  }
  const bool keeps_all = plan.arena_kept_bytes >= plan.arena_bytes;
  return text + "; kept between steps: " +
         (plan.arena_kept_bytes == 0 ? "nothing"
          : keeps_all                ? "all of it"
                                     : FormatBytes(plan.arena_kept_bytes));
}

// "all data: 52.4 MB", "activation of conv1: 3.1 MB"
std::string HolderText(const Holder& holder) {
  const std::string purpose(NameOf(holder.tag));
  const std::string everything = "all " + purpose;
  return (holder.label == everything ? everything : purpose + " of " + Printable(holder.label)) +
         ": " + FormatBytes(holder.bytes);
}

std::string MemoryText(const Plan& plan, bool in_arena) {
  std::vector<std::string> holders;
  for (const Holder& holder : plan.largest_holders) {
    if (holders.size() == kShownHolders) break;
    holders.push_back(HolderText(holder));
  }
  std::string text = PurposeTable(plan);
  if (!holders.empty()) text += Item("largest", holders, ";");
  std::vector<std::string> twice;
  if (!plan.steps.empty()) twice = SideBySidePhrases(plan.steps.front(), kShownHolders);
  for (std::string& phrase : twice) phrase = Printable(phrase);
  if (!twice.empty()) text += Item("side by side", twice, ";");
  if (in_arena) text += Item("arena", {ArenaText(plan)});
  return text;
}

std::string StepWorkText(const Plan& plan) {
  TextTable table;
  table.columns = {{"Step"},
                   {"batch", true},
                   {"work", true},
                   {"recomputed", true},
                   {plan.devices ? "peak of the largest device" : "peak", true}};
  for (const StepPlan& step : plan.steps) {
    const double share = step.flops > 0 ? step.recomputed_flops / step.flops : 0;
    table.rows.push_back({std::string(NameOf(step.kind)), FormatCount(step.batch),
                          FlopsText(step.flops), share > 0 ? PercentText(share) : "-",
                          FormatBytes(PeakBytesOf(step))});
  }
  return table.rows.empty() ? "" : "\n" + ToText(table);
}

std::string NotesText(const PlannedTraining& planned) {
  const std::vector<std::string> notes = NotesOn(planned);
  if (notes.empty()) return "";
  std::string text = "\n  Notes\n";
  for (const std::string& note : notes) text += "  - " + Printable(note) + "\n";
  return text;
}

}  // namespace

std::string PlanText(const PlannedTraining& planned, const SystemMemory* machine) {
  const Plan& plan = planned.plan;
  return HeadText(planned) + PolicyText(planned.config) + DevicesItem(plan) + BudgetText(plan) +
         PagingText(plan) + (machine != nullptr ? MachineText(planned, *machine) : "") + "\n" +
         LayerTableText(plan.layers) + "\n" +
         (plan.devices ? DevicesText(*plan.devices) + "\n" : "") +
         MemoryText(plan, planned.config.memory.use_activation_pooling) + StepWorkText(plan) +
         NotesText(planned);
}

}  // namespace frugal
