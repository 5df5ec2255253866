#include "builders/report/report_file.h"

#include "sdk/io/atomic_file.h"

namespace frugal {

void WriteTextFile(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.Append(text);
  file.Commit();
}

}  // namespace frugal
