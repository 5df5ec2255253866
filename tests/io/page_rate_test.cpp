#include "sdk/io/paging/page_rate.h"

#include <cmath>

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/support/failing_file_system.h"

namespace frugal::testing {
namespace {

TEST_CASE("rates of a page file are measured once, and no file is left", "[io][paging]") {
  const TempDir directory;
  const PageRate rate = PageRateAt(directory.File("page"));
  CHECK(directory.Count() == 0);
  for (const double bytes_per_second : {rate.write, rate.read, rate.copy}) {
    CHECK(std::isfinite(bytes_per_second));
    CHECK(bytes_per_second > 1e5);
  }
  const PageRate again = PageRateAt(directory.File("page"));
  CHECK(again.write == rate.write);
  CHECK(again.delay == rate.delay);
}

// A machine that is busy for a moment may hide it once.
TEST_CASE("kernels fall behind where the system works for the disk", "[io][paging]") {
  const TempDir directory(MemoryDirectory());
  const auto delay = [&](const std::string& name, int busy_milliseconds) {
    FailingFileSystem files({.busy_milliseconds = busy_milliseconds});
    const FileSystemScope scope(files);
    return PageRateAt(directory.File(name)).delay;
  };
  bool is_seen = false;
  for (int i = 0; i < 3 && !is_seen; ++i) {
    const double idle = delay("idle" + std::to_string(i), 0);
    const double busy = delay("busy" + std::to_string(i), 4);
    INFO("idle " << idle << ", busy " << busy);
    is_seen = busy > idle && busy > 0.2e-9;
  }
  CHECK(is_seen);
}

// The disk's thread meets the second one, while kernels run.
TEST_CASE("a write that fails while rates are measured is one error", "[io][paging]") {
  const TempDir directory(MemoryDirectory());
  for (const std::size_t call : {10U, 70U}) {
    FailingFileSystem files({.error = ENOSPC, .call = call});
    const FileSystemScope scope(files);
    const std::string message = MessageOf<FileError>([&] { PageRateAt(directory.File("page")); });
    INFO(files.failed());
    CHECK(files.failed().starts_with("write"));
    CheckContains(message, "No space left on device");
    CHECK(directory.Count() == 0);
  }
  CHECK(PageRateAt(directory.File("page")).write > 0);  // no failure was remembered
}

}  // namespace
}  // namespace frugal::testing
