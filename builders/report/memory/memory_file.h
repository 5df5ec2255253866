#pragma once

#include <string>

#include "builders/memory_report/memory_report.h"

namespace frugal {

enum class MemoryFileForm : std::uint8_t { kPage, kJson, kChromeTrace };

// Tells the form of a memory report by its name: .html, .trace.json or .json. Throws FileError for
// another one.
MemoryFileForm MemoryFileFormOf(const std::string& path);

// Writes the report in the form that the name tells. Throws FileError where it cannot.
void WriteMemoryFile(const std::string& path, const MemoryReport& report);

}  // namespace frugal
