#include "builders/report/rows/operation_rows.h"

#include <algorithm>

#include "sdk/core/number_text.h"

namespace frugal {
namespace {

double Quotient(double part, double whole) { return whole > 0 ? part / whole : 0; }

class Rows {
 public:
  explicit Rows(const OperationProfile& profile)
      : profile_(profile), limits_(profile.limits.value_or(MachineLimits())) {}

  OperationRow RowOf(std::string name, const KernelTotals& totals) const {
    const double steps = static_cast<double>(std::max<std::int64_t>(1, profile_.steps));
    const double flops = Quotient(totals.flops, totals.seconds);
    const double bytes = Quotient(totals.bytes, totals.seconds);
    return {.name = std::move(name),
            .calls = static_cast<double>(totals.launches) / steps,
            .milliseconds = 1e3 * totals.seconds / steps,
            .share = Quotient(totals.seconds, profile_.seconds),
            .gflops = flops / 1e9,
            .product_share = Quotient(flops, limits_.ProductOf(profile_.dtype)),
            .gbytes = bytes / 1e9,
            .copy_share = Quotient(bytes, limits_.copy)};
  }

 private:
  const OperationProfile& profile_;
  MachineLimits limits_;
};

std::string FixedOrDash(double value, int digits) {
  return value > 0 ? FixedText(value, digits) : "-";
}

std::string WholeOrDash(double share) { return share > 0 ? FixedText(100 * share, 0) + "%" : "-"; }

}  // namespace

const std::vector<OperationColumn>& OperationColumns() {
  using Row = OperationRow;
  static const std::vector<OperationColumn> columns = {
      {"operation", false, [](const Row& row) { return row.name; }},
      {"calls", true, [](const Row& row) { return FixedOrDash(row.calls, 0); }},
      {"ms", true, [](const Row& row) { return FixedText(row.milliseconds, 2); }},
      {"time", true, [](const Row& row) { return FixedText(100 * row.share, 1) + "%"; }, true},
      {"GFLOP/s", true, [](const Row& row) { return FixedOrDash(row.gflops, 1); }},
      {"of limit", true, [](const Row& row) { return WholeOrDash(row.product_share); }},
      {"GB/s", true, [](const Row& row) { return FixedOrDash(row.gbytes, 1); }},
      {"of copy", true, [](const Row& row) { return WholeOrDash(row.copy_share); }}};
  return columns;
}

std::vector<OperationRow> OperationRows(const OperationProfile& profile) {
  const Rows rows(profile);
  std::vector<OperationRow> table;
  KernelTotals kernels;
  for (const OperationMeasurement& operation : profile.operations) {
    const std::string kind(NameOf(operation.kind));
    table.push_back(rows.RowOf(operation.backward ? kind + ", backward" : kind, operation.totals));
    kernels.launches += operation.totals.launches;
    kernels.seconds += operation.totals.seconds;
    kernels.flops += operation.totals.flops;
    kernels.bytes += operation.totals.bytes;
  }
  const KernelTotals outside{.seconds = std::max(0.0, profile.seconds - kernels.seconds)};
  table.push_back(rows.RowOf("outside kernels", outside));
  kernels.seconds = profile.seconds;
  table.push_back(rows.RowOf("step", kernels));
  return table;
}

std::optional<double> SecondsAtLimits(const OperationProfile& profile) {
  if (!profile.limits) return std::nullopt;
  const Rows rows(profile);
  double milliseconds = 0;
  for (const OperationMeasurement& operation : profile.operations) {
    const OperationRow row = rows.RowOf({}, operation.totals);
    const double reached = std::max(row.product_share, row.copy_share);
    milliseconds += row.milliseconds * (reached > 0 ? std::min(1.0, reached) : 1);
  }
  return milliseconds / 1e3;
}

}  // namespace frugal
