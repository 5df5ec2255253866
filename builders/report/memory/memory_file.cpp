#include "builders/report/memory/memory_file.h"

#include "builders/report/memory/chrome_trace.h"
#include "builders/report/memory/memory_json.h"
#include "builders/report/memory/memory_page.h"
#include "builders/report/report_file.h"
#include "sdk/core/error.h"

namespace frugal {

MemoryFileForm MemoryFileFormOf(const std::string& path) {
  if (path.ends_with(".trace.json")) return MemoryFileForm::kChromeTrace;
  if (path.ends_with(".json")) return MemoryFileForm::kJson;
  if (path.ends_with(".html")) return MemoryFileForm::kPage;
  throw FileError({.where = path,
                   .required = "a memory report is a page (.html), JSON (.json) or a Chrome trace "
                               "(.trace.json)",
                   .given = "'" + path + "' is none of these by its name",
                   .advice = "end the name with one of them"});
}

void WriteMemoryFile(const std::string& path, const MemoryReport& report) {
  switch (MemoryFileFormOf(path)) {
    case MemoryFileForm::kPage:
      return WriteTextFile(path, MemoryPage(report));
    case MemoryFileForm::kJson:
      return WriteTextFile(path, MemoryJson(report));
    case MemoryFileForm::kChromeTrace:
      return WriteTextFile(path, MemoryChromeTrace(report));
  }
}

}  // namespace frugal
