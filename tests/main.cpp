#define CATCH_CONFIG_RUNNER
#include <iostream>

#include "tests/catch.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

#if CATCH_VERSION_MAJOR >= 3
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

// ctest calls a test with this exit code skipped (SKIP_RETURN_CODE in tests/CMakeLists.txt).
constexpr int kAllSkipped = 77;

struct Tally {
  int cases = 0, skipped = 0;
  std::string name, tags;  // of the case that runs now
  bool skips = false;
};

Tally& TheTally() {
  static Tally tally;
  return tally;
}

class SkipListener : public Listener {
 public:
  using Listener::Listener;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    TheTally().name = std::string(info.name);
    TheTally().tags = info.tagsAsString();
    TheTally().skips = false;
  }
  void testCaseEnded(const Catch::TestCaseStats&) override {
    ++TheTally().cases;
    TheTally().skipped += TheTally().skips ? 1 : 0;
  }
};
CATCH_REGISTER_LISTENER(SkipListener)

int Run(int argument_count, char** arguments) {
  const int result = Catch::Session().run(argument_count, arguments);
  const Tally& tally = TheTally();
  if (tally.skipped > 0) {
    std::cout << tally.skipped << " of " << tally.cases << " test cases skipped" << std::endl;
  }
  if (result != 0) return 1;  // Catch2 2 counts failures here, and might count to kAllSkipped
  return tally.skipped > 0 && tally.skipped == tally.cases ? kAllSkipped : 0;
}

}  // namespace

void NoteSkipped(const std::string& reason) {
  Tally& tally = TheTally();
  if (tally.tags.find("[needs-") == std::string::npos) {
    FAIL("a case that may be skipped needs a tag [needs-...]; it was skipped since " << reason);
  }
  if (!tally.skips) std::cout << "skipped: " << tally.name << ": " << reason << std::endl;
  tally.skips = true;
}

}  // namespace frugal::testing

int main(int argument_count, char** arguments) {
  return frugal::testing::Run(argument_count, arguments);
}
