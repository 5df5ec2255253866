#include "builders/inference/sampling.h"

#include "tests/builders/diffusion_runs.h"

namespace frugal::testing {
namespace {

constexpr std::size_t kSample = 8 * 8 * 2;

std::string Refusal(Model& model, const SampleOptions& options) {
  return MessageOf<UsageError>([&] { DrawSamples(model, options); });
}

DiffusionOptions SmallNoise() {
  return {.kind = DiffusionKind::kNoise, .steps = 100, .label_dropout = 0.2, .sampler_steps = 3};
}

// A network that takes no labels.
Model WithoutLabels(const DiffusionOptions& diffusion = SmallFlow()) {
  UVitConfig config;
  config.img_size = 8;
  config.patch_size = 4;
  config.in_chans = 2;
  config.embed_dim = 16;
  config.depth = 2;
  config.num_heads = 2;
  config.num_classes = -1;
  return DrawingBuilder(diffusion).Architecture(config).Build();
}

TEST_CASE("samples are the same for the same seed, and others for another") {
  for (const DiffusionOptions& diffusion : {SmallFlow(), SmallNoise()}) {
    Model model = TrainedModel(DrawingBuilder(diffusion));
    const SampleOptions options = {.labels = {0, 4, 2}, .seed = 5};
    const std::vector<float> once = DrawSamples(model, options);
    CHECK(once.size() == 3 * kSample);
    for (const float value : once) REQUIRE(std::isfinite(value));
    CHECK(once == DrawSamples(model, options));
    CHECK(once != DrawSamples(model, {.labels = {0, 4, 2}, .seed = 6}));
    CHECK(once != DrawSamples(model, {.labels = {1, 4, 2}, .seed = 5}));
  }
}

TEST_CASE("samples are drawn in batches of any number") {
  Model model = TrainedModel(DrawingBuilder());
  const std::vector<std::int64_t> labels = {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2};  // 8 and 5
  const std::vector<float> all = DrawSamples(model, {.labels = labels});
  CHECK(all.size() == labels.size() * kSample);
  const std::vector<float> first = DrawSamples(model, {.labels = {0}});
  for (std::size_t i = 0; i < kSample; ++i) CHECK(all[i] == Approx(first[i]).margin(1e-4));
}

TEST_CASE("guidance of 1 is what the network says; others differ") {
  Model model = TrainedModel(DrawingBuilder());
  const std::vector<std::int64_t> labels = {0, 3};
  const std::vector<float> plain = DrawSamples(model, {.labels = labels});
  CHECK(plain == DrawSamples(model, {.labels = labels, .guidance = 1}));
  const std::vector<float> guided = DrawSamples(model, {.labels = labels, .guidance = 4});
  CHECK(plain != guided);
  // Guided by 0 it is what the network says without a label.
  const std::vector<float> unguided = DrawSamples(model, {.labels = labels, .guidance = 0});
  CHECK(unguided == DrawSamples(model, {.labels = {5, 5}}));
  CHECK(unguided == DrawSamples(model, {.labels = {4, 1}, .guidance = 0}));
}

TEST_CASE("one step of Euler's method is done by hand") {
  Model model = TrainedModel(DrawingBuilder());
  std::vector<float> noise(kSample);
  FillNoise(9, noise);
  const std::vector<float> time = {1000};
  const std::vector<std::int64_t> label = {2};
  const std::vector<InputValues> inputs = {noise, time, label};
  const std::vector<float> velocity = model.PredictInputs(inputs, 1);
  const std::vector<float> drawn = DrawSamples(model, {.labels = label, .steps = 1, .seed = 9});
  for (std::size_t i = 0; i < kSample; ++i) {
    CHECK(drawn[i] == Approx(noise[i] - velocity[i]).margin(1e-6));
  }
}

// Checks that options change the samples, and alike in the configuration and in a call.
void CheckRead(DiffusionOptions configured, const SampleOptions& called) {
  configured.kind = DiffusionKind::kNoise;
  configured.steps = 100;
  Model by_config = TrainedModel(DrawingBuilder(configured));
  SampleOptions plain = {.labels = {0, 3}};
  SampleOptions told = called;
  told.labels = plain.labels;
  Model by_call = TrainedModel(DrawingBuilder(SmallNoise()));
  const std::vector<float> usual = DrawSamples(by_call, plain);
  const std::vector<float> other = DrawSamples(by_call, told);
  CHECK(usual != other);
  CHECK(other == DrawSamples(by_config, plain));
}

TEST_CASE("sampler, steps and guidance are the configuration's where a call does not say") {
  CheckRead({.label_dropout = 0.2, .sampler = SamplerKind::kDdpm, .sampler_steps = 3},
            {.sampler = SamplerKind::kDdpm});
  CheckRead({.label_dropout = 0.2, .sampler = SamplerKind::kDpmSolver, .sampler_steps = 3},
            {.sampler = SamplerKind::kDpmSolver});
  CheckRead({.label_dropout = 0.2, .sampler_steps = 5}, {.steps = 5});
  CheckRead({.label_dropout = 0.2, .sampler_steps = 3, .guidance = 3}, {.guidance = 3});
}

TEST_CASE("progress is told after each step") {
  Model model = DrawingBuilder().Build();
  std::vector<std::int64_t> seen;
  DrawSamples(model, {.labels = {0}, .progress = [&](std::int64_t step, std::int64_t steps) {
                        CHECK(steps == 3);
                        seen.push_back(step);
                      }});
  CHECK(seen == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("a network without labels draws as many as asked") {
  Model model = WithoutLabels();
  CHECK(DrawSamples(model, {.count = 9}).size() == 9 * kSample);
  CheckContains(Refusal(model, {}), "at least one sample; count = 0");
  CheckContains(Refusal(model, {.count = 1, .guidance = 2.0}), "guidance goes by labels");
  CheckContains(Refusal(model, {.count = -4}), "at least one sample; count = -4");
  CheckContains(Refusal(model, {.labels = {1}}), "the network takes labels; it takes none");
}

TEST_CASE("labels that are missing or out of range are refused") {
  Model model = DrawingBuilder().Build();
  CheckContains(Refusal(model, {}), "a label for each sample; none was given");
  CheckContains(Refusal(model, {.count = 3}), "a label for each sample; none was given");
  CheckContains(Refusal(model, {.labels = {0, 6}}), "labels lie in [0, 6); 6");
  CheckContains(Refusal(model, {.labels = {-1}}), "labels lie in [0, 6); -1");
}

TEST_CASE("samples of a model without diffusion are refused") {
  Model model = BuilderFor({}).Build();
  CheckContains(Refusal(model, {.count = 1}), "write [diffusion] with a kind");
}

TEST_CASE("guidance needs a label that stands for none") {
  DiffusionOptions diffusion = SmallFlow();
  diffusion.label_dropout = 0;
  DitConfig config = SmallDit();
  config.class_dropout_prob = 0;
  Model model = DrawingBuilder(diffusion).Architecture(config).Build();
  CHECK(DrawSamples(model, {.labels = {4}}).size() == kSample);
  CheckContains(Refusal(model, {.labels = {4}, .guidance = 2}), "a label that stands for none");
}

TEST_CASE("steps and samplers that make no sense are refused") {
  Model model = DrawingBuilder().Build();
  CHECK_THROWS_AS(DrawSamples(model, {.labels = {0}, .steps = 0}), ConfigError);
  CHECK_THROWS_AS(DrawSamples(model, {.labels = {0}, .steps = -1}), ConfigError);
  Model noise = DrawingBuilder(SmallNoise()).Build();
  CHECK_THROWS_AS(DrawSamples(noise, {.labels = {0}, .steps = 101}), ConfigError);
}

TEST_CASE("a sampler of the other kind of diffusion is refused") {
  Model flow = DrawingBuilder().Build();
  CHECK_THROWS_AS(DrawSamples(flow, {.labels = {0}, .sampler = SamplerKind::kDdim}), UsageError);
  Model noise = DrawingBuilder(SmallNoise()).Build();
  CHECK_THROWS_AS(DrawSamples(noise, {.labels = {0}, .sampler = SamplerKind::kEulerFlow}),
                  UsageError);
}

}  // namespace
}  // namespace frugal::testing
