#include "builders/report/text/operation_table.h"

#include <algorithm>

#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

// A step without a length, or without kernels, has no share of it to tell.
std::string RooflineText(const OperationProfile& profile) {
  const double seconds = SecondsAtLimits(profile).value_or(0);
  const double step =
      profile.seconds / static_cast<double>(std::max<std::int64_t>(1, profile.steps));
  if (seconds <= 0 || step <= 0) return {};
  return "; with every kind at the nearer of these a step would take " +
         FixedText(1e3 * seconds, 0) + " ms, " + FixedText(100 * seconds / step, 0) +
         "% of its time";
}

}  // namespace

std::string OperationNote(const OperationProfile& profile) {
  std::string text = "Mean of " + FormatCount(profile.steps) +
                     (profile.steps == 1 ? " step" : " steps") +
                     "; GB/s of what an operation must at least read and write";
  if (!profile.limits) return text + ".";
  return text + ". This machine's best, measured behind the run: product " +
         FixedText(profile.limits->ProductOf(profile.dtype) / 1e9, 0) + " GFLOP/s in " +
         std::string(NameOf(profile.dtype)) + ", copy " + FixedText(profile.limits->copy / 1e9, 1) +
         " GB/s" + RooflineText(profile) + ".";
}

std::string OperationTableText(const OperationProfile& profile) {
  TextTable table;
  for (const OperationColumn& column : OperationColumns()) {
    table.columns.push_back({column.title, column.is_number});
  }
  table.columns.front().title = "Operation";
  for (const OperationRow& row : OperationRows(profile)) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const OperationColumn& column : OperationColumns()) cells.push_back(column.cell(row));
  }
  return ToText(table) + OperationNote(profile) + "\n";
}

}  // namespace frugal
