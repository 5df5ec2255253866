#include "sdk/core/random.h"
#include "sdk/ops/elementwise.h"
#include "tests/catch.h"
#include "tests/support/passes.h"

namespace frugal::testing {
namespace {

std::vector<double> Dropped(TestEnvironment& environment, double rate,
                            std::string_view path = "here") {
  const Tensor ones = Full({100, 100}, 1, environment.dtype());
  return Values(Dropout(environment.context(), {ones}, rate, path).value);
}

TEST_CASE("dropout drops its share and keeps the mean", "[ops][dropout]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    for (const double rate : {0.1, 0.5, 0.9}) {
      const std::vector<double> values = Dropped(environment, rate);
      const double kept = 1 / (1 - rate);
      double zeros = 0;
      for (const double value : values) {
        if (value == 0) {
          ++zeros;
        } else {
          REQUIRE(value == Approx(kept));
        }
      }
      CHECK(zeros / 10000 == Approx(rate).margin(5 * std::sqrt(rate * (1 - rate)) / 100));
    }
  }
}

TEST_CASE("the mask follows from seed, step and path", "[ops][dropout]") {
  TestEnvironment environment(kReferenceF64);
  TestEnvironment other_seed(kReferenceF64, 8);
  const auto mask = Dropped(environment, 0.5);
  CHECK(Dropped(environment, 0.5) == mask);
  CHECK(Dropped(environment, 0.5, "there") != mask);
  CHECK(Dropped(other_seed, 0.5) != mask);
  environment.context().set_step(1);
  CHECK(Dropped(environment, 0.5) != mask);
  environment.context().set_step(0);
  CHECK(Dropped(environment, 0.5) == mask);
}

TEST_CASE("masks are the same on every backend", "[ops][dropout]") {
  TestEnvironment f64(kReferenceF64);
  TestEnvironment f32(kReferenceF32);
  TestEnvironment onednn(kOneDnnF32);
  const auto mask = Dropped(f64, 0.5);
  CHECK(Dropped(f32, 0.5) == mask);
  CHECK(Dropped(onednn, 0.5) == mask);
}

TEST_CASE("dropout is the identity in evaluation and at rate zero", "[ops][dropout]") {
  TestEnvironment environment(kReferenceF64);
  const Var x = {Full({3}, 1, DType::kF64)};
  CHECK(Dropout(environment.context(), x, 0, "here").value.SharesStorageWith(x.value));
  environment.context().set_training(false);
  CHECK(Dropout(environment.context(), x, 0.5, "here").value.SharesStorageWith(x.value));
}

TEST_CASE("backward drops what forward dropped", "[ops][dropout]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const Pass pass = RunPass(
        environment,
        [](Context& context, const Var& x) { return Dropout(context, x, 0.4, "here"); },
        Full({50, 7}, 1, kind.dtype));
    const std::vector<double> upstream = Values(RandomTensor({50, 7}, 99, kind.dtype));
    std::vector<double> expected = Values(pass.output);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] *= upstream[i];
    CHECK(MaxError(pass.input_gradient, expected) < 1e-6);
  }
}

}  // namespace
}  // namespace frugal::testing
