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

TEST_CASE("of work that lasts it is told, and not at every call") {
  constexpr std::chrono::milliseconds kQuiet(20);
  SlowWork progress(kQuiet);
  int made = 0, calls = 0;
  const auto start = std::chrono::steady_clock::now();
  while (made < 2) {
    ++calls;
    progress.Tell([&] {
      ++made;
      return std::string("a test of telling");
    });
  }
  CHECK(std::chrono::steady_clock::now() - start >= 2 * kQuiet);
  CHECK(calls > made);
}
