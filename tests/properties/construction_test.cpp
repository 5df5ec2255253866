// Models cost nothing before they are used, and give back everything when they are gone.
#include "sdk/memory/system_memory.h"
#include "tests/catch.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

AiModelBuilder WideBuilder() {
  AiModelBuilder builder;
  const DataLayout layout = SyntheticLayout();
  builder.Memory(TrainingMemoryConfig::FastConstruction()).Data(layout, SyntheticSources(layout));
  builder.Layers([](LayerList& l) {
    l.Flatten();
    for (int i = 0; i < 4; ++i) l.Dense({.units = 40000});  // 4.8 billion weights
    l.Dense({.units = 5});
  });
  return builder;
}

TEST_CASE("planning, counting and describing a huge model take no memory") {
  const std::int64_t before = ResidentBytes();
  const Blueprint blueprint = WideBuilder().Plan();
  CHECK(blueprint.plan.parameter_count ==
        128LL * 40000 + 3LL * 40000 * 40000 + 4LL * 40000 + 40000LL * 5 + 5);
  CHECK(blueprint.plan.peak_by_purpose[MemoryTag::kParameter] > 19'000'000'000);
  CHECK_FALSE(blueprint.network->Describe().empty());
  CHECK(ResidentBytes() - before < (std::int64_t{64} << 20));
}

TEST_CASE("constructing with FastConstruction allocates no parameter bytes") {
  Model model = WideBuilder().Build();
  CHECK(model.live_bytes() == 0);
  CHECK(model.ParameterCount() > 4'000'000'000);
  CHECK(model.live_bytes() == 0);
}

TEST_CASE("parameters materialize one by one as they are touched") {
  SmallRun run;
  run.network = "mlp";
  run.memory = TrainingMemoryConfig::FastConstruction();
  Model model = BuilderFor(run).Build();
  std::int64_t expected = 0;
  for (const Parameter* parameter : model.parameters()) {
    CHECK(model.live_bytes() == expected);
    model.Values(parameter->path);
    expected += RoundUpToAlignment(parameter->shape.ElementCount() * 4);
  }
  CHECK(model.live_bytes() == expected);
}

TEST_CASE("twenty models in a row leave nothing behind") {
  SmallRun run;
  run.network = "resnet";
  run.max_steps = 1;
  const auto hits = [] { return SharedTensorPool().statistics().hits; };
  Train(run);  // what the kernels keep for themselves is there from now on
  const std::int64_t resident = ResidentBytes();
  const std::int64_t hits_before = hits();
  for (int i = 0; i < 20; ++i) {
    Train(run);
    CHECK(SharedTensorPool().statistics().live_bytes == 0);
  }
  CHECK(ResidentBytes() - resident < (std::int64_t{4} << 20));
  CHECK(hits() > hits_before);  // one model's buffers served the next
}

}  // namespace
}  // namespace frugal::testing
