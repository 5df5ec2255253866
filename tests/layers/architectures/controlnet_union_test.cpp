// The union ControlNet differs from the plain one in types of hints and in attention along the
// batch. Its numbers are those of an oracle case; gradients, checkpoints and dry runs are in
// unets_test.
#include "builders/architectures.h"
#include "builders/budget/free_knobs.h"
#include "builders/config/types/architecture.h"
#include "builders/plan/published_models.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/passes.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kBatch = 3;

ControlNetUnionConfig Small(std::vector<std::int64_t> types) {
  ControlNetUnionConfig config;
  config.sample_size = 4;
  config.down_block_types = {"DownBlock2D"};
  config.block_out_channels = {4};
  config.layers_per_block = {1};
  config.cross_attention_dim = {6};
  config.attention_head_dim = {2};
  config.norm_num_groups = 2;
  config.addition_time_embed_dim = 4;
  config.conditioning_embedding_out_channels = {2, 3};
  config.num_control_type = 4;
  config.control_types = std::move(types);
  config.num_trans_channel = 4;
  config.num_proj_channel = 4;
  config.num_trans_head = 2;
  return config;
}

// Values of parameters and inputs follow from their names alone.
std::uint64_t SeedOf(const std::string& name) {
  std::uint64_t seed = 17;
  for (const char c : name) seed = 31 * seed + static_cast<std::uint64_t>(c);
  return seed % 1000003;
}

// Samples begin ... end of the batch.
VarTuple InputsOf(const Sequential& network, std::int64_t begin, std::int64_t end) {
  VarTuple vars;
  for (const NetworkInput& input : network.inputs()) {
    const Tensor all = RandomTensor(BatchShape(input, kBatch), SeedOf(input.name), DType::kF64);
    const std::vector<double> values = Values(all);
    const std::int64_t each = all.size() / kBatch;
    vars.push_back(
        {MakeTensor(BatchShape(input, end - begin),
                    std::vector<double>(values.begin() + begin * each, values.begin() + end * each),
                    DType::kF64)});
  }
  return vars;
}

std::vector<double> OutputOf(const ControlNetUnionConfig& config, std::int64_t begin,
                             std::int64_t end) {
  const auto network = BuildArchitecture(config);
  TestEnvironment environment(kReferenceF64);
  for (const Parameter* parameter : network->Parameters()) {
    const Tensor value = environment.store().Value(*parameter);
    const Tensor random =
        RandomTensor(value.shape(), SeedOf(parameter->path), value.dtype(), -0.5, 0.5);
    std::memcpy(value.raw(), random.raw(), static_cast<std::size_t>(value.bytes()));
  }
  VarTuple vars = InputsOf(*network, begin, end);
  (*network)(environment.context(), vars);
  return Values(vars[0].value);
}

std::string RefusalOf(const ControlNetUnionConfig& config) {
  try {
    BuildArchitecture(config);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("union ControlNets: hints add up in whichever order they come", "[layers]") {
  CHECK(RelativeError(OutputOf(Small({0, 3}), 0, kBatch), OutputOf(Small({3, 0}), 0, kBatch)) <
        1e-12);
}

TEST_CASE("union ControlNets: a sample's result depends on the others of its batch", "[layers]") {
  const ControlNetUnionConfig config = Small({2});
  const std::vector<double> together = OutputOf(config, 0, kBatch);
  std::vector<double> parts;
  for (std::int64_t i = 0; i < kBatch; ++i) {
    const std::vector<double> alone = OutputOf(config, i, i + 1);
    parts.insert(parts.end(), alone.begin(), alone.end());
  }
  CHECK(RelativeError(parts, together) > 1e-6);
  CHECK(RelativeError(parts, together) < 0.5);
}

TEST_CASE("union ControlNets: a planner leaves their batches in one piece", "[budget]") {
  PlannedTraining mixes = PlanNamedModel("controlnet-union-pro");
  PlannedTraining plain = PlanNamedModel("instantid");
  mixes.schedule.test_samples = plain.schedule.test_samples = 4;
  CHECK(MixesSamples(mixes));
  CHECK_FALSE(MixesSamples(plain));
  CHECK_FALSE(FreeKnobsOf(mixes).micro_batches);
  CHECK_FALSE(FreeKnobsOf(mixes).evaluation_batch);
  CHECK(FreeKnobsOf(plain).micro_batches);
  CHECK(FreeKnobsOf(plain).evaluation_batch);
}

TEST_CASE("union ControlNets name the key whose value does not fit", "[layers][errors]") {
  CHECK_THAT(RefusalOf(Small({4})), Catch::Contains("controlnet_union.control_types") &&
                                        Catch::Contains("0 ... 3") && Catch::Contains("4"));
  CHECK_THAT(RefusalOf(Small({-1})), Catch::Contains("controlnet_union.control_types"));
  CHECK_THAT(RefusalOf(Small({1, 1})), Catch::Contains("1 twice"));
  CHECK_THAT(RefusalOf(Small({})), Catch::Contains("none"));
  ControlNetUnionConfig config = Small({0});
  config.num_control_type = 0;
  CHECK_THAT(RefusalOf(config), Catch::Contains("controlnet_union.num_control_type"));
  config = Small({0});
  config.num_trans_channel = 8;
  CHECK_THAT(RefusalOf(config), Catch::Contains("controlnet_union.num_trans_channel"));
  config = Small({0});
  config.num_proj_channel = 2;
  CHECK_THAT(RefusalOf(config), Catch::Contains("controlnet_union.num_proj_channel"));
  config = Small({0});
  config.num_trans_head = 3;
  CHECK_THAT(RefusalOf(config), Catch::Contains("controlnet_union.num_trans_head"));
  config = Small({0});
  config.num_trans_layer = 0;
  CHECK_THAT(RefusalOf(config), Catch::Contains("controlnet_union.num_trans_layer"));
}

}  // namespace
}  // namespace frugal::testing
