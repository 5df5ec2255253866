#include "tests/oracles/operations.h"

#include <set>

#include "tests/catch.h"

namespace frugal::oracles {
namespace {

using test::AllWorlds;
using test::TestWorld;
using test::WorldKind;

const std::string kDirectory = std::string(FRUGAL_TEST_DATA) + "/oracles/ops";

struct Tolerance {
  double output;
  double gradient;
};
// The files are f32, so f64 can agree with them to f32's rounding only.
Tolerance ToleranceOf(const WorldKind& kind) {
  return kind.dtype == DType::kF64 ? Tolerance{1e-6, 1e-6} : Tolerance{1e-5, 1e-4};
}

void CheckCase(const WorldKind& kind, const OracleCase& one) {
  TestWorld world(kind);
  OracleRun run(world, one);
  const Tolerance tolerance = ToleranceOf(kind);
  const auto errors = run.Errors(FindOperation(one.operation));
  REQUIRE(errors.size() >= 2);  // the output and at least one gradient
  CHECK(run.NotDifferentiated().empty());
  for (const auto& [name, error] : errors) {
    INFO(one.Name() << " " << name << " on " << kind);
    CHECK(error < (name == "out" ? tolerance.output : tolerance.gradient));
  }
}

TEST_CASE("operations agree with PyTorch", "[oracles]") {
  std::set<std::string> operations;
  int cases = 0;
  for (const OracleCase& one : ReadIndex(kDirectory)) {
    INFO(one.Name());
    REQUIRE(FindOperation(one.operation) != nullptr);
    for (const WorldKind& kind : AllWorlds()) CheckCase(kind, one);
    operations.insert(one.operation);
    ++cases;
  }
  CHECK(operations.size() == 50);
  CHECK(cases == 63);
}

}  // namespace
}  // namespace frugal::oracles
