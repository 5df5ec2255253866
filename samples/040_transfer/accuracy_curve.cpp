#include "samples/040_transfer/accuracy_curve.h"

#include <algorithm>
#include <map>

#include "builders/report/text/text_table.h"
#include "sdk/core/number_text.h"

namespace frugal::transfer {

AccuracyCurve::AccuracyCurve(Model& model, std::int64_t every)
    : model_(model), every_(every), console_(UnitsOf(model.layout(), model.config().loss)) {}

void AccuracyCurve::OnStep(const StepProgress& progress) {
  console_.OnStep(progress);
  if (progress.step % every_ != 0 && progress.step != progress.total_steps) return;
  points_.push_back({progress.step, model_.Evaluate().accuracy.value_or(0)});
}

double BestOf(const std::vector<Point>& curve) {
  double best = 0;
  for (const Point& point : curve) best = std::max(best, point.accuracy);
  return best;
}

std::optional<std::int64_t> StepReaching(const std::vector<Point>& curve, double accuracy) {
  for (const Point& point : curve) {
    if (point.accuracy >= accuracy) return point.step;
  }
  return std::nullopt;
}

namespace {

std::string SentenceOn(double accuracy, const std::vector<Point>& tuned,
                       const std::vector<Point>& scratch) {
  const auto short_way = StepReaching(tuned, accuracy);
  const auto long_way = StepReaching(scratch, accuracy);
  if (!short_way || !long_way) return "";
  const double ratio = static_cast<double>(*long_way) / static_cast<double>(*short_way);
  return PercentText(accuracy) + " is reached after " + FormatCount(*short_way) +
         " steps of fine-tuning, and from scratch after " + FormatCount(*long_way) + ": " +
         FixedText(ratio, 1) + " times as many.\n";
}

}  // namespace

std::string ComparisonText(const std::vector<Point>& tuned, const std::vector<Point>& scratch) {
  std::map<std::int64_t, std::pair<std::string, std::string>> at;
  for (const Point& point : tuned) at[point.step].first = PercentText(point.accuracy);
  for (const Point& point : scratch) at[point.step].second = PercentText(point.accuracy);
  TextTable table{.columns = {{"step", true}, {"fine-tuned", true}, {"from scratch", true}},
                  .rows = {}};
  for (const auto& [step, cells] : at) {
    table.rows.push_back({std::to_string(step), cells.first, cells.second});
  }
  const double same = std::min(BestOf(tuned), BestOf(scratch));
  std::string text = "Test accuracy on all ten classes\n" + ToText(table) + "\n";
  for (const double accuracy : {same - 0.02, same}) text += SentenceOn(accuracy, tuned, scratch);
  return text;
}

}  // namespace frugal::transfer
