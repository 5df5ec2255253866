#include "sdk/core/slow_work.h"

#include "tests/catch.h"

using namespace frugal;

TEST_CASE("of work that is soon done nothing is told, and no words are made") {
  SlowWork progress;
  int made = 0;
  for (int i = 0; i < 1000; ++i) {
    progress.Tell([&] {
      ++made;
      return std::string();
    });
  }
  CHECK(made == 0);
}
