#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "builders/memory_report/memory_report.h"

namespace frugal {

// Totals of a memory report, over all of its devices: what two of them are compared by.
struct MemoryTotals {
  std::int64_t peak_bytes = 0;  // of the devices' peaks together
  std::map<std::string, std::int64_t> by_purpose{};
  std::map<std::string, std::int64_t> by_kind{};
  std::map<std::string, std::int64_t> by_layer{};
};

// One of two reports: as planned, and as measured where it is one of a run.
struct MemorySide {
  std::string name;  // as the user named it
  MemoryTotals planned{};
  std::optional<MemoryTotals> measured{};
};

MemorySide SideOf(std::string name, const MemoryReport& report);
// Reads the JSON of a report (MemoryJson). Throws DataError, naming the file, where it is none.
MemorySide ReadMemorySide(const std::string& path);

// Says what grew and what shrank between the two, by whom: as measured where both were, else as
// planned.
std::string MemoryDiffText(const MemorySide& a, const MemorySide& b);

}  // namespace frugal
