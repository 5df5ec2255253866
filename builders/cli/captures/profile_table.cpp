#include "builders/cli/captures/profile_table.h"

#include <algorithm>

#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

std::string Microseconds(double seconds) { return FixedText(seconds * 1e6, 1); }

std::vector<std::string> RowOf(const EntryTime& t, bool compares) {
  std::vector<std::string> row = {
      t.operation + (t.backward && !t.operation.ends_with("backward") ? " (backward)" : ""),
      (t.path.empty() ? "the step" : t.path) + ": " + t.shapes,
      FormatCount(t.like_it),
      Microseconds(t.warm.median),
      Microseconds(t.warm.upper_quartile - t.warm.lower_quartile),
      Microseconds(t.cold.median),
      t.flops > 0 ? RateText(t.FlopsPerSecond() / 1e9) : "-",
      RateText(t.BytesPerSecond() / 1e9),
      PercentText(std::max(t.ProductShare(), t.CopyShare())),
      std::string(NameOf(t.bound()))};
  if (compares) {
    row.push_back(t.before_ratio > 0 ? FixedText(t.before_ratio, 2) : "-");
    row.push_back(t.IsSlower() ? "slower" : t.IsFaster() ? "faster" : "");
  }
  return row;
}

}  // namespace

std::string ProfileTableText(const std::vector<EntryTime>& times, std::int64_t most) {
  const bool compares =
      std::ranges::any_of(times, [](const EntryTime& t) { return t.before_ratio > 0; });
  TextTable table;
  table.width = 150;
  table.flexible = 1;
  table.columns = {{"operation"},      {"where"},         {"times", true},   {"median us", true},
                   {"IQR us", true},   {"cold us", true}, {"GFLOP/s", true}, {"GB/s", true},
                   {"of limit", true}, {"bound by"}};
  if (compares) table.columns.insert(table.columns.end(), {{"to before", true}, {""}});
  double all = 0, shown = 0;
  for (const EntryTime& time : times) {
    all += time.TotalSeconds();
    if (most > 0 && std::ssize(table.rows) >= most) continue;
    shown += time.TotalSeconds();
    table.rows.push_back(RowOf(time, compares));
  }
  std::string text = ToText(table);
  text += "\n  " + DurationText(all) + " in all operations, " +
          PercentText(all > 0 ? shown / all : 0) + " of it above";
  for (const EntryTime& time : times) {
    if (!IsBad(time.status)) continue;
    text += "\n  " + std::string(NameOf(time.status)) + ": entry " + FormatCount(time.entry) +
            ", " + time.operation + ": " + time.reason;
  }
  return text + "\n";
}

}  // namespace frugal
