#include "builders/report/text/operation_table.h"

#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

std::string FixedOrDash(double value, int digits) {
  return value > 0 ? FixedText(value, digits) : "-";
}

std::string WholeOrDash(double share) { return share > 0 ? FixedText(100 * share, 0) + "%" : "-"; }

}  // namespace

std::vector<std::string> OperationCells(const OperationRow& row) {
  return {row.name,
          row.calls > 0 ? FixedText(row.calls, 0) : "-",
          FixedText(row.milliseconds, 2),
          FixedText(100 * row.share, 1) + "%",
          FixedOrDash(row.gflops, 1),
          WholeOrDash(row.product_share),
          FixedOrDash(row.gbytes, 1),
          WholeOrDash(row.copy_share)};
}

std::string OperationNote(const OperationProfile& profile) {
  std::string text = "Mean of " + FormatCount(profile.steps) +
                     (profile.steps == 1 ? " step" : " steps") +
                     "; GB/s of what an operation must at least read and write";
  if (!profile.limits) return text + ".";
  return text + ". This machine's best, measured behind the run: product " +
         FixedText(profile.limits->ProductOf(profile.dtype) / 1e9, 0) + " GFLOP/s in " +
         std::string(NameOf(profile.dtype)) + ", copy " + FixedText(profile.limits->copy / 1e9, 1) +
         " GB/s.";
}

std::string OperationTableText(const OperationProfile& profile) {
  TextTable table;
  table.columns = {{"Operation"},     {"calls", true},    {"ms", true},   {"time", true},
                   {"GFLOP/s", true}, {"of limit", true}, {"GB/s", true}, {"of copy", true}};
  for (const OperationRow& row : OperationRows(profile)) table.rows.push_back(OperationCells(row));
  return ToText(table) + OperationNote(profile) + "\n";
}

}  // namespace frugal
