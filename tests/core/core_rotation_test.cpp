#include "sdk/core/core_rotation.h"

#include <set>

#include "tests/catch.h"

namespace frugal {
namespace {

cpu_set_t Allowed() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  REQUIRE(::sched_getaffinity(0, sizeof mask, &mask) == 0);
  return mask;
}

TEST_CASE("A thread goes round all cores that are busy, and is free behind it") {
  const cpu_set_t before = Allowed();
  const int count = CPU_COUNT(&before);
  {
    CoreRotation rotation(count, 3);
    std::set<int> cores;
    for (int i = 0; i < count; ++i) {
      rotation.Work(2);  // does not end with the turn that it begins in
      const int core = ::sched_getcpu();
      rotation.Work(1);
      CHECK(::sched_getcpu() == core);
      cores.insert(core);
    }
    CHECK(std::ssize(cores) == count);  // one core is all there is, where there is one
    for (const int core : cores) CHECK(CPU_ISSET(core, &before));
  }
  const cpu_set_t after = Allowed();
  CHECK(CPU_EQUAL(&before, &after));
}

TEST_CASE("A thread stays free where a core is") {
  const cpu_set_t before = Allowed();
  CoreRotation rotation(CPU_COUNT(&before) - 1, 1);
  rotation.Work(1);
  rotation.Work(1);
  const cpu_set_t now = Allowed();
  CHECK(CPU_EQUAL(&before, &now));
}

}  // namespace
}  // namespace frugal
