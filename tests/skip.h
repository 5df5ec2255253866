#pragma once

#include <string>

namespace frugal::test {

// Notes that the test case that runs now is skipped, and prints its name and the reason. The case
// must bear a tag [needs-...], by which ctest runs it apart from those that always run; without
// one it fails.
void NoteSkipped(const std::string& reason);

}  // namespace frugal::test

// Ends a test case here, as skipped for `reason`, where the machine or the system lacks what it
// needs.
#define FRUGAL_SKIP_UNLESS(condition, reason) \
  do {                                        \
    if (!(condition)) {                       \
      frugal::test::NoteSkipped(reason);      \
      return;                                 \
    }                                         \
  } while (false)
