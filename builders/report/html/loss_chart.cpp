#include "builders/report/html/loss_chart.h"

#include <algorithm>
#include <cmath>

#include "builders/report/html/downsample.h"
#include "builders/report/html/svg_chart.h"
#include "builders/report/rows/smoothing.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

constexpr std::size_t kMostPoints = 800;
constexpr std::size_t kLeastToSmooth = 10;
constexpr std::int64_t kMostEpochLines = 40;
constexpr std::size_t kMostDots = 60;

struct Extent {
  double low = 0;
  double high = 0;
  std::size_t count = 0;  // of finite values
};

Extent ExtentOf(const std::vector<double>& values) {
  Extent extent;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    extent.low = extent.count == 0 ? value : std::min(extent.low, value);
    extent.high = extent.count == 0 ? value : std::max(extent.high, value);
    ++extent.count;
  }
  return extent;
}

std::vector<Point> PointsOf(const std::vector<double>& values) {
  std::vector<Point> points;
  for (const std::size_t i : IndicesToDraw(values, kMostPoints)) {
    points.push_back({static_cast<double>(i + 1), values[i]});
  }
  return points;
}

// The mean of a moving average from the left and one from the right, so that it does not lag.
std::vector<double> Smoothed(const std::vector<double>& values) {
  const double window = std::max(5.0, static_cast<double>(values.size()) / 80);
  SmoothedValue left(window);
  SmoothedValue right(window);
  std::vector<double> smoothed(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    left.Add(values[i]);
    smoothed[i] = left.value() / 2;
  }
  for (std::size_t i = values.size(); i-- > 0;) {
    right.Add(values[i]);
    smoothed[i] += right.value() / 2;
  }
  return smoothed;
}

void DrawEpochs(const EpochSchedule& schedule, std::size_t steps, SvgChart& chart) {
  const std::int64_t length = schedule.steps_per_epoch;
  const auto last = static_cast<std::int64_t>(steps);
  if (length < 1 || last / length > kMostEpochLines) return;
  for (std::int64_t end = length; end < last; end += length) {
    chart.VerticalLine(static_cast<double>(end) + 0.5, "epoch");
  }
}

// Says which losses are missing in the chart.
std::string GapNote(const std::vector<double>& losses, std::size_t finite) {
  if (finite == losses.size()) return "";
  const auto first = std::ranges::find_if(losses, [](double loss) { return !std::isfinite(loss); });
  const auto count = static_cast<std::int64_t>(losses.size() - finite);
  return "<p class=\"warning\">" + FormatCount(count) + " of " +
         FormatCount(static_cast<std::int64_t>(losses.size())) +
         " losses are not finite, the first in step " + FormatCount(first - losses.begin() + 1) +
         ".</p>\n";
}

std::string LossChart(const ReportData& data) {
  const std::vector<double>& losses = data.result.losses;
  const Extent extent = ExtentOf(losses);
  const std::string note = GapNote(losses, extent.count);
  if (extent.count == 0) return note + "<p>There is no loss to draw.</p>\n";
  const bool from_zero = extent.low >= 0 && extent.low < extent.high / 2;
  SvgChart chart({.x = CountAxis(1, static_cast<double>(losses.size()), "step"),
                  .y = ValueAxis(from_zero ? 0 : extent.low, extent.high, "loss")});
  DrawEpochs(data.schedule(), losses.size(), chart);
  const bool smooth = losses.size() >= kLeastToSmooth;
  chart.Line(PointsOf(losses), smooth ? "loss faint" : "loss");
  if (smooth) chart.Line(PointsOf(Smoothed(losses)), "loss");
  if (extent.count == 1) {
    const std::vector<Point> points = PointsOf(losses);
    chart.Dots(points, std::vector<std::string>(points.size(), "loss"), "loss-dot");
  }
  std::string legend = "<p class=\"legend\"><span><i class=\"loss-key";
  legend += smooth ? " faint\"></i>each step</span><span><i class=\"loss-key\"></i>smoothed"
                   : "\"></i>each step";
  return note + legend + "</span></p>\n" + chart.Finish("Loss of each training step");
}

struct EpochValues {
  std::vector<double> values;
  std::vector<Point> points;
  std::vector<std::string> texts;
};

EpochValues EpochValuesOf(const TrainingResult& result, bool accuracy) {
  EpochValues epochs;
  for (const EpochResult& epoch : result.epochs) {
    const auto& value = accuracy ? epoch.test_accuracy : epoch.test_loss;
    if (!value || !std::isfinite(*value)) continue;
    epochs.values.push_back(*value);
    epochs.points.push_back({static_cast<double>(epoch.epoch), *value});
    epochs.texts.push_back("epoch " + FormatCount(epoch.epoch) + ": " +
                           (accuracy ? PercentText(*value) : FixedText(*value, 4)));
  }
  return epochs;
}

std::string TestChart(const TrainingResult& result) {
  EpochValues epochs = EpochValuesOf(result, true);
  const bool accuracy = !epochs.values.empty();
  if (!accuracy) epochs = EpochValuesOf(result, false);
  if (epochs.values.empty()) return "";
  const Extent extent = ExtentOf(epochs.values);
  const Axis y = accuracy ? PercentAxis(extent.low, extent.high, "test accuracy")
                          : ValueAxis(extent.low, extent.high, "test loss");
  SvgChart chart({.x = CountAxis(epochs.points.front().x, epochs.points.back().x, "epoch"),
                  .y = y,
                  .height = 220,
                  .right = 72});
  chart.Line(epochs.points, "test");
  if (epochs.points.size() <= kMostDots) chart.Dots(epochs.points, epochs.texts, "test-dot");
  const double last = epochs.values.back();
  chart.Text(epochs.points.back(), 10, accuracy ? PercentText(last) : FixedText(last, 4), "value");
  return std::string("<h3>") + (accuracy ? "Test accuracy" : "Test loss") +
         " after each epoch</h3>\n" +
         chart.Finish(accuracy ? "Test accuracy after each epoch" : "Test loss after each epoch");
}

}  // namespace

std::string LearningCharts(const ReportData& data) {
  return "<section>\n<h2>Learning</h2>\n<h3>Loss of each step</h3>\n" + LossChart(data) +
         TestChart(data.result) + "</section>\n";
}

}  // namespace frugal
