// These tests show what the oracle cases of the predictors with two streams do not: grids, masks,
// recomputation, refusals.
#include <cstring>
#include <functional>

#include "layers/architectures/asymmdit.h"
#include "layers/architectures/cogvideox.h"
#include "layers/architectures/emmdit.h"
#include "layers/architectures/flux.h"
#include "layers/architectures/mmdit.h"
#include "sdk/core/error.h"
#include "sdk/ops/loss.h"
#include "tests/io/temp_dir.h"
#include "tests/support/tensors.h"
#include "tests/support/test_environment.h"

namespace frugal::testing {
namespace {

using testing::MessageOf;

MmditConfig SmallMmdit() {
  return {.sample_size = 8,
          .in_channels = 2,
          .num_layers = 3,
          .attention_head_dim = 4,
          .num_attention_heads = 2,
          .joint_attention_dim = 5,
          .caption_projection_dim = 8,
          .pooled_projection_dim = 3,
          .pos_embed_max_size = 6,
          .dual_attention_layers = {1},
          .qk_norm = QueryKeyNorm::kLayer};
}

FluxConfig SmallFlux() {
  return {.in_channels = 3,
          .num_layers = 2,
          .num_single_layers = 2,
          .attention_head_dim = 8,
          .num_attention_heads = 2,
          .joint_attention_dim = 5,
          .pooled_projection_dim = 3,
          .axes_dims_rope = {2, 4, 2}};
}

CogVideoXConfig SmallCogVideoX() {
  return {.num_attention_heads = 2,
          .attention_head_dim = 8,
          .in_channels = 2,
          .time_embed_dim = 6,
          .text_embed_dim = 5,
          .num_layers = 2,
          .sample_width = 4,
          .sample_height = 6,
          .max_text_seq_length = 3};
}

AsymmDitConfig SmallAsymmDit() {
  return {.num_attention_heads = 2,
          .attention_head_dim = 4,
          .num_layers = 3,
          .pooled_projection_dim = 6,
          .in_channels = 2,
          .text_embed_dim = 8,
          .time_embed_dim = 4,
          .max_sequence_length = 5};
}

EmmditConfig SmallEmmdit() {
  return {.in_channels = 2,
          .attention_head_dim = 8,
          .num_attention_heads = 2,
          .caption_channels = 3,
          .caption_projection_dim = 16,
          .pos_embed_max_size = 20};
}

struct Predictor {
  std::string name;
  std::function<std::unique_ptr<Sequential>()> make;
  std::vector<Shape> inputs;
};

// Latents that are neither square nor as the configuration has them, where the family takes any.
std::vector<Predictor> Predictors() {
  return {
      {"mmdit", [] { return MakeMmdit(SmallMmdit()); }, {{2, 4, 12, 2}, {2}, {2, 3, 5}, {2, 3}}},
      {"flux", [] { return MakeFlux(SmallFlux()); }, {{2, 6, 3}, {2, 4, 5}, {2, 3}, {2}, {2}}},
      {"cogvideox",
       [] { return MakeCogVideoX(SmallCogVideoX()); },
       {{2, 3, 6, 8, 2}, {2, 3, 5}, {2}}},
      {"asymmdit",
       [] { return MakeAsymmDit(SmallAsymmDit()); },
       {{2, 3, 4, 6, 2}, {2, 4, 8}, {2}, {2, 4}}},
      {"emmdit", [] { return MakeEmmdit(SmallEmmdit()); }, {{2, 16, 16, 2}, {2, 16, 3}, {2}}}};
}

std::unique_ptr<Sequential> Named(std::unique_ptr<Sequential> net) {
  net->AssignPaths("");
  NumberParameters(*net);
  return net;
}

// Everything random: what starts at zero would hide what is before it.
void FillParameters(TestEnvironment& environment, Sequential& net) {
  std::uint64_t seed = 1;
  for (const Parameter* parameter : net.Parameters()) {
    const Tensor value = environment.store().Value(*parameter);
    const Tensor random = RandomTensor(value.shape(), seed++, value.dtype(), -0.3, 0.3);
    std::memcpy(value.raw(), random.raw(), static_cast<std::size_t>(value.bytes()));
  }
}

VarTuple RandomInputs(const Sequential& net, const std::vector<Shape>& shapes, DType dtype) {
  VarTuple vars;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    vars.push_back({RandomTensor(shapes[i], 50 + i, TypeOf(net.inputs()[i], dtype), 0.1, 2)});
  }
  return vars;
}

Tensor OutputOf(Sequential& net, const VarTuple& inputs,
                const EnvironmentKind& kind = kReferenceF64) {
  TestEnvironment environment(kind);
  VarTuple vars = inputs;
  FillParameters(environment, net);
  net(environment.context(), vars);
  REQUIRE(vars.size() == 1);
  return MakeTensor(vars[0].shape(), Values(vars[0].value), kind.dtype);
}

// All gradients, one behind the other, and what the step took at most.
std::pair<std::vector<double>, std::int64_t> GradientsOf(Sequential& net,
                                                         const std::vector<Shape>& shapes,
                                                         const EnvironmentKind& kind) {
  TestEnvironment environment(kind);
  if (!kind.dry) FillParameters(environment, net);
  Tape tape;
  const TapeScope scope(environment.context(), &tape);
  VarTuple vars = RandomInputs(net, shapes, kind.dtype);
  net(environment.context(), vars);
  const Var output = std::exchange(vars, {})[0];
  tape.Backward(environment.context(), output.slot,
                RandomTensor(output.shape(), 9, output.dtype()));
  std::vector<double> all;
  for (const Parameter* parameter : net.Parameters()) {
    if (!parameter->trainable || kind.dry) continue;
    const Tensor gradient = environment.store().Gradient(*parameter);
    REQUIRE(gradient);
    const std::vector<double> values = Values(gradient);
    all.insert(all.end(), values.begin(), values.end());
  }
  return {all, environment.ledger().peak()[MemoryTag::kActivation]};
}

TEST_CASE("checkpointed blocks of two streams give the same gradients, bit for bit") {
  for (const Predictor& predictor : Predictors()) {
    INFO(predictor.name);
    const auto plain = Named(predictor.make());
    const auto [expected, memory] = GradientsOf(*plain, predictor.inputs, kOneDnnF32);
    for (const std::size_t length : {1u, 3u}) {
      const auto net = Named(predictor.make());
      CheckpointSegments segments;
      for (std::size_t i = 0; i + length <= net->size(); i += length) {
        segments.push_back({.begin = i, .end = i + length});
      }
      net->SetSegments(segments);
      const auto [gradients, less] = GradientsOf(*net, predictor.inputs, kOneDnnF32);
      CHECK(gradients == expected);
      // A segment of most layers holds at its second run about what all hold without any.
      if (2 * length <= net->size()) CHECK(less < memory);
    }
  }
}

TEST_CASE("a dry run of a predictor takes what a real one does") {
  for (const Predictor& predictor : Predictors()) {
    INFO(predictor.name);
    const auto net = Named(predictor.make());
    EnvironmentKind dry = kOneDnnF32;
    dry.dry = true;
    CHECK(GradientsOf(*net, predictor.inputs, dry).second ==
          GradientsOf(*net, predictor.inputs, kOneDnnF32).second);
  }
}

TEST_CASE("predictors give what they take: latents of any extent that patches divide") {
  for (const Predictor& predictor : Predictors()) {
    INFO(predictor.name);
    const auto net = Named(predictor.make());
    const Tensor output = OutputOf(*net, RandomInputs(*net, predictor.inputs, DType::kF64));
    CHECK(output.shape() == predictor.inputs[0]);
  }
}

TEST_CASE("padding behind a text changes nothing") {
  const auto net = Named(MakeAsymmDit(SmallAsymmDit()));
  VarTuple padded = RandomInputs(*net, {{1, 2, 4, 6, 2}, {1, 5, 8}, {1}, {1, 5}}, DType::kF64);
  padded[3] = {MakeTensor<double>({1, 5}, {1, 1, 1, 0, 0}, DType::kF64)};
  std::vector<double> text = Values(padded[1].value);
  text.resize(3 * 8);
  VarTuple shorter = padded;
  shorter[1] = {MakeTensor<double>({1, 3, 8}, text, DType::kF64)};
  shorter[3] = {MakeTensor<double>({1, 3}, {1, 1, 1}, DType::kF64)};
  const Tensor expected = OutputOf(*net, shorter);
  CHECK(RelativeError(OutputOf(*net, padded), Values(expected)) < 1e-12);
  padded[3] = {MakeTensor<double>({1, 5}, {1, 1, 1, 1, 0}, DType::kF64)};
  CHECK(RelativeError(OutputOf(*net, padded), Values(expected)) > 1e-6);
}

TEST_CASE("a text of nothing but padding leaves numbers") {
  const auto net = Named(MakeAsymmDit(SmallAsymmDit()));
  VarTuple vars = RandomInputs(*net, {{1, 1, 2, 2, 2}, {1, 2, 8}, {1}, {1, 2}}, DType::kF32);
  vars[3] = {MakeTensor<double>({1, 2}, {0, 0})};
  for (const double value : Values(OutputOf(*net, vars, kOneDnnF32))) {
    CHECK(std::isfinite(value));
  }
}

TEST_CASE("tokens without a grid lie in the most square one") {
  const auto run = [](std::int64_t height, std::int64_t width) {
    FluxConfig config = SmallFlux();
    config.grid_height = height;
    config.grid_width = width;
    const auto net = Named(MakeFlux(config));
    const std::vector<Shape> shapes = {{1, 12, 3}, {1, 4, 5}, {1, 3}, {1}, {1}};
    return Values(OutputOf(*net, RandomInputs(*net, shapes, DType::kF64)));
  };
  const std::vector<double> square = run(0, 0);
  CHECK(run(3, 4) == square);
  CHECK(run(3, 0) == square);
  CHECK(run(0, 4) == square);
  CHECK(run(4, 3) != square);
  CHECK(run(1, 12) != square);
}

std::string RefusedInput(std::unique_ptr<Sequential> made, const std::vector<Shape>& shapes) {
  const auto net = Named(std::move(made));
  return MessageOf<ShapeError>([&] { OutputOf(*net, RandomInputs(*net, shapes, DType::kF64)); });
}

bool Says(const std::string& message, const std::string& part) {
  INFO(message);
  return message.find(part) != std::string::npos;
}

TEST_CASE("inputs that do not fit are refused by name") {
  const auto mmdit = [](const std::vector<Shape>& shapes) {
    return RefusedInput(MakeMmdit(SmallMmdit()), shapes);
  };
  CHECK(Says(mmdit({{1, 7, 8, 2}, {1}, {1, 3, 5}, {1, 3}}), "'x'"));
  CHECK(Says(mmdit({{1, 8, 8, 2}, {1}, {1, 3, 6}, {1, 3}}), "'context'"));
  CHECK(Says(mmdit({{1, 8, 8, 2}, {1}, {1, 3, 5}}), "'pooled' is missing"));
  CHECK(Says(mmdit({{1, 14, 8, 2}, {1}, {1, 3, 5}, {1, 3}}), "pos_embed_max_size"));
  CHECK(Says(RefusedInput(MakeEmmdit(SmallEmmdit()), {{1, 16, 16, 2}, {1, 15, 3}, {1}}),
             "'context'"));
  CHECK(Says(RefusedInput(MakeCogVideoX(SmallCogVideoX()), {{1, 1, 2, 2, 2}, {1, 2, 5}, {1}}),
             "'context'"));
  CHECK(Says(RefusedInput(MakeAsymmDit(SmallAsymmDit()), {{1, 1, 2, 2, 2}, {1, 2, 8}, {1}, {1, 3}}),
             "mask"));
  FluxConfig flux = SmallFlux();
  flux.grid_height = 5;
  CHECK(Says(RefusedInput(MakeFlux(flux), {{1, 12, 3}, {1, 4, 5}, {1, 3}, {1}, {1}}), "'x'"));
}

template <class Config, class Change>
std::string RefusedConfig(std::unique_ptr<Sequential> (*make)(const Config&), Config config,
                          const Change& change) {
  change(config);
  return MessageOf<ConfigError>([&] { make(config); });
}

TEST_CASE("sizes that do not fit are refused by their keys") {
  CHECK(Says(RefusedConfig(&MakeMmdit, SmallMmdit(), [](auto& c) { c.caption_projection_dim = 9; }),
             "caption_projection_dim"));
  CHECK(
      Says(RefusedConfig(&MakeMmdit, SmallMmdit(), [](auto& c) { c.dual_attention_layers = {3}; }),
           "dual_attention_layers"));
  CHECK(Says(RefusedConfig(&MakeFlux, SmallFlux(),
                           [](auto& c) {
                             c.axes_dims_rope = {2, 4, 4};
                           }),
             "axes_dims_rope"));
  CHECK(Says(RefusedConfig(&MakeFlux, SmallFlux(),
                           [](auto& c) {
                             c.axes_dims_rope = {4, 4};
                           }),
             "axes_dims_rope"));
  CHECK(Says(
      RefusedConfig(&MakeCogVideoX, SmallCogVideoX(), [](auto& c) { c.attention_head_dim = 4; }),
      "attention_head_dim"));
  CHECK(Says(RefusedConfig(&MakeAsymmDit, SmallAsymmDit(), [](auto& c) { c.text_embed_dim = 9; }),
             "text_embed_dim"));
  CHECK(Says(RefusedConfig(&MakeEmmdit, SmallEmmdit(), [](auto& c) { c.num_layers = 12; }),
             "num_layers"));
  CHECK(Says(RefusedConfig(&MakeEmmdit, SmallEmmdit(), [](auto& c) { c.sample_size = 24; }),
             "sample_size"));
}

}  // namespace
}  // namespace frugal::testing
