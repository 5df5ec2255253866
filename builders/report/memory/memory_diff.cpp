#include "builders/report/memory/memory_diff.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>

#include "builders/report/memory/memory_words.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/io/json_integer.h"
#include "sdk/io/whole_file.h"

namespace frugal {
namespace {

using Totals = std::map<std::string, std::int64_t>;

constexpr std::size_t kMostChanges = 20;

void Add(const std::vector<MemoryShare>& shares, Totals& totals) {
  for (const MemoryShare& share : shares) totals[share.name] += share.bytes;
}

void Add(const StepMemory& memory, MemoryTotals& totals) {
  totals.peak_bytes += memory.peak_bytes;
  Add(SharesByPurpose(memory), totals.by_purpose);
  Add(SharesByKind(memory), totals.by_kind);
  Add(SharesByLayer(memory), totals.by_layer);
}

void AddShares(const nlohmann::json& shares, Totals& totals) {
  for (const nlohmann::json& share : shares) {
    totals[share.at("name").get<std::string>()] += JsonInteger(share.at("bytes"));
  }
}

void Add(const nlohmann::json& step, MemoryTotals& totals) {
  totals.peak_bytes += JsonInteger(step.at("peak_bytes"));
  for (const auto& [purpose, bytes] : step.at("by_purpose").items()) {
    totals.by_purpose[purpose] += JsonInteger(bytes);
  }
  AddShares(step.at("by_kind"), totals.by_kind);
  AddShares(step.at("by_layer"), totals.by_layer);
}

[[noreturn]] void RefuseJson(const std::string& path, const std::string& why) {
  throw DataError({.where = path,
                   .required = "a memory report, as `frugal memory FILE.toml --out report.json` "
                               "writes it",
                   .given = why,
                   .advice = "name such a file, or a configuration"});
}

std::string SignedBytes(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "+") + FormatBytes(std::abs(bytes));
}

std::string TableOf(const std::string& title, const Totals& a, const Totals& b) {
  struct Row {
    std::string name;
    std::int64_t a = 0, b = 0;
    std::int64_t Change() const { return b - a; }
  };
  std::map<std::string, Row> rows;
  for (const auto& [name, bytes] : a) rows[name] = {.name = name, .a = bytes};
  for (const auto& [name, bytes] : b) {
    rows[name].name = name;
    rows[name].b = bytes;
  }
  std::vector<Row> changed;
  for (const auto& [name, row] : rows) {
    if (row.Change() != 0) changed.push_back(row);
  }
  if (changed.empty()) return "";
  std::ranges::stable_sort(changed, std::ranges::greater{},
                           [](const Row& row) { return std::abs(row.Change()); });
  TextTable table;
  table.columns = {{title}, {"A", true}, {"B", true}, {"bytes", true}, {"change", true}};
  for (std::size_t i = 0; i < std::min(kMostChanges, changed.size()); ++i) {
    const Row& row = changed[i];
    table.rows.push_back({row.name, FormatBytes(row.a), FormatBytes(row.b),
                          (row.Change() > 0 ? "+" : "") + FormatCount(row.Change()),
                          SignedBytes(row.Change())});
  }
  std::string text = ToText(table);
  if (changed.size() > kMostChanges) {
    text += "  and " +
            FormatCount(std::ssize(changed) - static_cast<std::ptrdiff_t>(kMostChanges)) +
            " more\n";
  }
  return text + "\n";
}

}  // namespace

MemorySide SideOf(std::string name, const MemoryReport& report) {
  MemorySide side{.name = std::move(name)};
  for (const DeviceReport& device : report.devices) {
    if (device.planned) Add(device.planned->memory, side.planned);
    if (!device.measured) continue;
    if (!side.measured) side.measured.emplace();
    Add(device.measured->memory, *side.measured);
  }
  return side;
}

MemorySide ReadMemorySide(const std::string& path) {
  MemorySide side{.name = path};
  try {
    const nlohmann::json json = nlohmann::json::parse(ReadWholeFile(path));
    if (json.at("form") != "frugal memory report 1") {
      RefuseJson(path, "its form is another one");
    }
    for (const nlohmann::json& device : json.at("devices")) {
      if (!device.at("planned").is_null()) Add(device.at("planned"), side.planned);
      if (device.at("measured").is_null()) continue;
      if (!side.measured) side.measured.emplace();
      Add(device.at("measured"), *side.measured);
    }
  } catch (const nlohmann::json::parse_error&) {
    RefuseJson(path, "it is no JSON");
  } catch (const nlohmann::json::exception&) {
    RefuseJson(path, "it lacks what such a report has");
  }
  return side;
}

std::string MemoryDiffText(const MemorySide& a, const MemorySide& b) {
  const bool measured = a.measured && b.measured;
  const MemoryTotals& from = measured ? *a.measured : a.planned;
  const MemoryTotals& to = measured ? *b.measured : b.planned;
  const std::int64_t change = to.peak_bytes - from.peak_bytes;
  std::string text = "A: " + a.name + ", peak " + FormatBytes(from.peak_bytes) + "\nB: " + b.name +
                     ", peak " + FormatBytes(to.peak_bytes) + "\n" +
                     (measured ? "as measured: " : "as planned: ") +
                     (change == 0 ? "no change of the peak" : SignedBytes(change)) + "\n\n";
  text += TableOf("By purpose", from.by_purpose, to.by_purpose);
  text += TableOf("By kind of operation", from.by_kind, to.by_kind);
  text += TableOf("By layer", from.by_layer, to.by_layer);
  return text;
}

}  // namespace frugal
