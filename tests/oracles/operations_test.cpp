#include "tests/oracles/operations.h"

#include <set>

#include "tests/catch.h"

namespace frugal::oracles {
namespace {

using testing::AllEnvironments;
using testing::EnvironmentKind;
using testing::TestEnvironment;

const std::string kOracleFiles = std::string(FRUGAL_TEST_DATA) + "/oracles";

struct Tolerance {
  double output;
  double gradient;
};
// The files are f32, so f64 can agree with them to f32's rounding only.
Tolerance ToleranceOf(const EnvironmentKind& kind) {
  return kind.dtype == DType::kF64 ? Tolerance{1e-6, 1e-6} : Tolerance{1e-5, 1e-4};
}

void CheckCase(const EnvironmentKind& kind, const OracleCase& one) {
  TestEnvironment environment(kind);
  OracleRun run(environment, one);
  const Tolerance tolerance = ToleranceOf(kind);
  const auto errors = run.Errors(FindOperation(one.operation));
  REQUIRE(errors.size() >= 2);  // the output and at least one gradient
  CHECK(run.NotDifferentiated().empty());
  for (const auto& [name, error] : errors) {
    INFO(one.Name() << " " << name << " on " << kind);
    CHECK(error < (name == "out" ? tolerance.output : tolerance.gradient));
  }
}

struct Count {
  std::size_t operations;
  int cases;
};
Count CheckDirectory(const std::string& directory) {
  std::set<std::string> operations;
  int cases = 0;
  for (const OracleCase& one : ReadIndex(directory)) {
    INFO(one.Name());
    REQUIRE(FindOperation(one.operation) != nullptr);
    for (const EnvironmentKind& kind : AllEnvironments()) CheckCase(kind, one);
    operations.insert(one.operation);
    ++cases;
  }
  return {operations.size(), cases};
}

TEST_CASE("operations agree with PyTorch", "[oracles]") {
  const Count count = CheckDirectory(kOracleFiles + "/ops");
  CHECK(count.operations == 50);
  CHECK(count.cases == 63);
}

TEST_CASE("operations agree with PyTorch where more of their attributes are given", "[oracles]") {
  CHECK(CheckDirectory(kOracleFiles + "/more_ops").cases == 45);
}

TEST_CASE("functions of elements and losses agree with PyTorch", "[oracles]") {
  const Count points = CheckDirectory(kOracleFiles + "/point_ops");
  CHECK(points.operations == 8);
  CHECK(points.cases == 18);
  const Count losses = CheckDirectory(kOracleFiles + "/loss_ops");
  CHECK(losses.operations == 8);
  CHECK(losses.cases == 29);
}

}  // namespace
}  // namespace frugal::oracles
