#include "tests/catch.h"
#include "tests/support/synthetic.h"

// The profile of a training accounts for each of its kernels.
namespace frugal::testing {
namespace {

SmallRun ProfiledRun(const std::string& network, std::int64_t steps) {
  SmallRun run;
  run.network = network;
  run.max_steps = steps;
  run.memory.track_memory_statistics = true;
  return run;
}

bool Multiplies(OperationKind kind) {
  return kind == OperationKind::kMatmul || kind == OperationKind::kConvolution ||
         kind == OperationKind::kAttention;
}

KernelTotals SumOf(const OperationProfile& profile) {
  KernelTotals sum;
  for (const OperationMeasurement& operation : profile.operations) {
    sum.launches += operation.totals.launches;
    sum.seconds += operation.totals.seconds;
    sum.flops += operation.totals.flops;
  }
  return sum;
}

std::vector<std::string> ProfiledNames() {
  std::vector<std::string> names = NetworkNames();
  for (const std::string& name : ArchitectureNames()) names.push_back(name);
  return names;
}

}  // namespace

TEST_CASE("kinds of operations and layers add up to the same kernels") {
  for (const std::string& name : ProfiledNames()) {
    CAPTURE(name);
    const Trained trained = Train(ProfiledRun(name, 1));
    const TrainingResult& result = trained.result;
    REQUIRE(result.profile);
    KernelTotals layers;
    for (const LayerMeasurement& layer : result.layers) {
      layers.launches += layer.launches;
      layers.seconds += layer.seconds;
      layers.flops += layer.flops;
    }
    const KernelTotals kinds = SumOf(*result.profile);
    CHECK(result.profile->steps == 1);
    CHECK(kinds.launches == layers.launches);
    CHECK(kinds.seconds == Approx(layers.seconds));
    CHECK(kinds.flops == Approx(layers.flops));
    CHECK(kinds.flops == Approx(trained.plan.steps.front().flops));
    CHECK(kinds.seconds <= result.profile->seconds);
  }
}

TEST_CASE("every kind says what it moves, and those that multiply how much") {
  for (const std::string& name : ProfiledNames()) {
    CAPTURE(name);
    const Trained trained = Train(ProfiledRun(name, 2));
    REQUIRE(trained.result.profile);
    for (const OperationMeasurement& operation : trained.result.profile->operations) {
      CAPTURE(NameOf(operation.kind), operation.backward);
      CHECK(operation.totals.launches > 0);
      CHECK(operation.totals.bytes > 0);
      CHECK((operation.totals.flops > 0) == Multiplies(operation.kind));
    }
  }
}

TEST_CASE("a profile is of training steps behind the first, without evaluations") {
  const Trained three = Train(ProfiledRun("mlp", 3));
  const Trained two = Train(ProfiledRun("mlp", 2));
  REQUIRE(three.result.profile);
  CHECK(three.result.profile->steps == 2);
  CHECK(two.result.profile->steps == 1);
  CHECK(SumOf(*three.result.profile).launches == 2 * SumOf(*two.result.profile).launches);
}

TEST_CASE("without being asked, a training has no profile") {
  SmallRun run = ProfiledRun("mlp", 2);
  run.memory.track_memory_statistics = false;
  CHECK_FALSE(Train(run).result.profile);
}

}  // namespace frugal::testing
