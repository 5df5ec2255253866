#include "builders/report/html/html_report.h"

#include "builders/report/html/html.h"
#include "builders/report/html/html_sections.h"
#include "builders/report/html/loss_chart.h"
#include "builders/report/html/memory_chart.h"
#include "builders/report/rows/plan_notes.h"
#include "builders/report/rows/plan_phrases.h"
#include "builders/report/text/policy_text.h"
#include "sdk/core/byte_size.h"

namespace frugal {
namespace {

std::string Lead(const std::string& text) {
  return "<p class=\"lead\">" + EscapeHtml(text) + "</p>\n";
}

std::string Joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string ProgramText(const ReportData& data) {
  const auto epochs = static_cast<std::int64_t>(data.result.epochs.size());
  return FormatCount(data.result.steps) + (data.result.steps == 1 ? " step" : " steps") + " of " +
         FormatCount(data.schedule().batch) + " samples in " + FormatCount(epochs) +
         (epochs == 1 ? " epoch; " : " epochs; ") + Joined(OptimizerPhrases(data.config()), ", ") +
         "; " + ComputeText(data.config().training);
}

std::string PolicyText(const RunConfig& config) {
  const std::string preset = PresetOf(config);
  return "Memory policy: " + (preset.empty() ? "" : "preset " + preset + "; ") +
         Joined(PolicyPhrases(config.memory), "; ");
}

std::string SeedText(const ReportData& data) {
  const std::string seed = "Seed " + std::to_string(data.config().training.seed);
  const std::string& hash = data.result.weights_hash;
  return hash.empty() ? seed : seed + "; final weights XXH3-64 " + hash;
}

std::string ListSection(const std::string& title, const std::string& lead,
                        const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string html = "<section>\n<h2>" + EscapeHtml(title) + "</h2>\n" +
                     (lead.empty() ? "" : "<p>" + EscapeHtml(lead) + "</p>\n") + "<ul>\n";
  for (const std::string& item : items) html += "<li>" + EscapeHtml(item) + "</li>\n";
  return html + "</ul>\n</section>\n";
}

std::string BudgetSection(const Plan& plan) {
  if (!plan.budget) return "";
  std::vector<std::string> items = ChoicePhrases(*plan.budget);
  if (plan.budget->recomputed.bounds) items.push_back("Bound: " + BoundPhrase(*plan.budget));
  if (plan.budget->faster) items.push_back("Faster: " + FasterPhrase(*plan.budget));
  return ListSection("Memory budget", BudgetSummary(*plan.budget), items);
}

std::string PagingSection(const Plan& plan) {
  constexpr std::size_t kShown = 20;
  return ListSection("Page file", "", PagingPhrases(plan, kShown));
}

std::string SideBySideSection(const Plan& plan) {
  if (plan.steps.empty()) return "";
  return ListSection("Side by side at the peak",
                     "Tensors of one size that one layer holds at the same time: copies, or inputs "
                     "and outputs that might share a place.",
                     SideBySidePhrases(plan.steps.front(), 10));
}

}  // namespace

std::string HtmlReport(const ReportData& data) {
  const std::string name = EscapeHtml(data.config().model.name);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         name + " - training report</title>\n<style>" + std::string(ReportStyle()) +
         "</style>\n</head>\n<body>\n<h1>" + name + "</h1>\n" + Lead(ProgramText(data)) +
         Lead(PolicyText(data.config())) + Lead(SeedText(data)) + KeyFigures(data) +
         LearningCharts(data) + StepMemorySection(data) + MemoryComparisonSection(data) +
         DevicesSection(data) + LayersSection(data) + OperationsSection(data) +
         BudgetSection(data.plan()) + PagingSection(data.plan()) + SideBySideSection(data.plan()) +
         ListSection("Notes", "", NotesOn(data.planned)) + ConfigurationSection(data.config()) +
         "</body>\n</html>\n";
}

}  // namespace frugal
