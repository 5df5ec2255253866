#include <cmath>

#include "builders/report/html/html.h"
#include "builders/report/html/html_sections.h"
#include "builders/report/rows/data_units.h"
#include "builders/report/rows/memory_rows.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

std::string Figure(const std::string& value, const std::string& name, const std::string& detail) {
  return "<div class=\"figure\"><b>" + EscapeHtml(value) + "</b><span>" + EscapeHtml(name) +
         "</span><small>" + EscapeHtml(detail) + "</small></div>\n";
}

std::string TestFigure(const TrainingResult& result, const DataUnits& units) {
  if (units.bits_per_byte && result.test_loss) {
    const std::string accuracy =
        result.test_accuracy ? ", test accuracy " + PercentText(*result.test_accuracy) : "";
    return Figure(FixedText(BitsOf(*result.test_loss), 3), "bits per byte",
                  "test loss " + FixedText(*result.test_loss, 4) + accuracy);
  }
  if (result.test_accuracy) {
    const std::string detail =
        result.test_loss ? "test loss " + FixedText(*result.test_loss, 4) : "";
    return Figure(PercentText(*result.test_accuracy), "test accuracy", detail);
  }
  if (!result.test_loss) return "";
  return Figure(FixedText(*result.test_loss, 4), "test loss", "");
}

std::string LossFigure(const TrainingResult& result) {
  if (result.epochs.empty()) return "";
  return Figure(FixedText(result.epochs.back().mean_loss, 4), "training loss", "mean, last epoch");
}

std::string PeakFigure(const ReportData& data) {
  for (const MemoryRow& row : MemoryRows(data.plan(), data.result)) {
    if (row.name != "all together") continue;
    return Figure(FormatBytes(row.measured), "peak memory",
                  row.equal ? "exactly as planned" : "planned " + FormatBytes(row.planned));
  }
  return "";
}

}  // namespace

std::string KeyFigures(const ReportData& data) {
  const TrainingResult& result = data.result;
  const DataUnits units = UnitsOf(data.layout(), data.config().loss);
  return "<div class=\"figures\">\n" + TestFigure(result, units) + LossFigure(result) +
         PeakFigure(data) +
         Figure(DurationText(result.seconds), "training time",
                RateText(units, result.samples_per_second)) +
         Figure(FormatCount(data.plan().parameter_count), "parameters",
                FormatCount(data.plan().trainable_count) + " trainable") +
         Figure(FormatCount(result.memory.allocations_after_warmup), "allocations",
                "after the first step") +
         "</div>\n";
}

}  // namespace frugal
