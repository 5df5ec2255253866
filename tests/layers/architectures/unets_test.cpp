// The U-Nets, the ControlNets and the autoencoder beyond the sizes of the oracle cases: gradients
// by differences, checkpointed and dry runs, and what they refuse.
#include <set>

#include "builders/architectures.h"
#include "builders/config/types/architecture.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/passes.h"

namespace frugal::testing {
namespace {

struct UNetCase {
  std::string name;
  ArchitectureConfig config;
  std::vector<Shape> shapes;  // of all inputs
};

UNetConfig Unconditional() {
  return {.sample_size = 8,
          .down_block_types = {"DownBlock2D", "AttnDownBlock2D", "DownBlock2D"},
          .up_block_types = {"UpBlock2D", "AttnUpBlock2D", "UpBlock2D"},
          .block_out_channels = {4, 8, 8},
          .attention_head_dim = std::nullopt,
          .add_attention = false,
          .norm_num_groups = 2,
          .freq_shift = 1,
          .downsample_padding = 0,
          .num_class_embeds = 3};
}

UNetConditionConfig Conditional() {
  UNetConditionConfig config;
  config.sample_size = 8;
  config.down_block_types = {"DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"};
  config.up_block_types = {"CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"};
  config.block_out_channels = {4, 8, 8};
  config.layers_per_block = {1, 2, 1};
  config.transformer_layers_per_block = {1, 2, 1};
  config.cross_attention_dim = {6};
  config.attention_head_dim = {1, 2, 4};
  config.only_cross_attention = true;
  config.use_linear_projection = true;
  config.norm_num_groups = 2;
  config.addition_embed_type = AddedEmbedding::kTextTime;
  config.addition_time_embed_dim = 4;
  config.projection_class_embeddings_input_dim = 25;
  return config;
}

ControlNetConfig Control() {
  ControlNetConfig config;
  config.sample_size = 8;
  config.down_block_types = {"CrossAttnDownBlock2D", "DownBlock2D"};
  config.mid_block_type = UNetMiddleType::kResnet;
  config.block_out_channels = {4, 8};
  config.cross_attention_dim = {6};
  config.attention_head_dim = {2};
  config.norm_num_groups = 2;
  config.num_class_embeds = 3;
  config.conditioning_embedding_out_channels = {2, 3};
  return config;
}

ControlNetUnionConfig Union() {
  ControlNetUnionConfig config;
  config.sample_size = 8;
  config.down_block_types = {"CrossAttnDownBlock2D", "DownBlock2D"};
  config.block_out_channels = {4, 8};
  config.cross_attention_dim = {6};
  config.attention_head_dim = {2};
  config.norm_num_groups = 2;
  config.num_class_embeds = 3;
  config.addition_time_embed_dim = 4;
  config.conditioning_embedding_out_channels = {2, 3};
  config.num_control_type = 5;
  config.control_types = {4, 0};
  config.num_trans_channel = 4;
  config.num_proj_channel = 4;
  config.num_trans_head = 2;
  return config;
}

VaeKlConfig Autoencoder() {
  return {
      .sample_size = 8,
      .latent_channels = 2,
      .down_block_types = {"DownEncoderBlock2D", "DownEncoderBlock2D", "AttnDownEncoderBlock2D"},
      .up_block_types = {"UpDecoderBlock2D", "AttnUpDecoderBlock2D", "UpDecoderBlock2D"},
      .block_out_channels = {4, 8, 8},
      .norm_num_groups = 2,
      .use_quant_conv = false,
      .mid_block_add_attention = false};
}

VideoUNetConfig Video() {
  return {.sample_size = 4,
          .num_frames = 2,
          .in_channels = 3,
          .out_channels = 2,
          .down_block_types = {"CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"},
          .up_block_types = {"UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal"},
          .block_out_channels = {32, 64},
          .addition_time_embed_dim = 4,
          .projection_class_embeddings_input_dim = 8,
          .layers_per_block = {1},
          .transformer_layers_per_block = {2},
          .cross_attention_dim = {6},
          .num_attention_heads = {2, 4}};
}

// A base network of a cascade.
PixelUNetConfig Pixels() {
  return {.sample_size = 8,
          .down_block_types = {"CrossAttnDownBlock2D", "DownBlock2D"},
          .block_out_channels = {4, 8},
          .layers_per_block = {2, 1},
          .attention_head_dim = 2,
          .encoder_hid_dim = 5,
          .cross_attention_dim = 6,
          .norm_num_groups = 2,
          .self_attention = false};
}

// A super-resolution network behind it.
PixelUNetConfig Enlarging() {
  PixelUNetConfig config = Pixels();
  config.down_block_types = {"DownBlock2D", "CrossAttnDownBlock2D"};
  config.self_attention = true;
  config.efficient = true;
  config.upscale = 2;
  return config;
}

std::vector<UNetCase> Cases() {
  return {
      {"unet", Unconditional(), {{2, 8, 12, 3}, {2}, {2}}},
      {"unet_condition", Conditional(), {{2, 4, 8, 4}, {2}, {2, 3, 6}, {2, 5}, {2, 5}}},
      {"controlnet", Control(), {{2, 4, 6, 4}, {2}, {2, 3, 6}, {2}, {2, 8, 12, 3}}},
      {"controlnet_union",
       Union(),
       {{2, 4, 6, 4}, {2}, {2, 3, 6}, {2}, {2, 8, 12, 3}, {2, 8, 12, 3}, {2, 5}}},
      {"vae_kl", Autoencoder(), {{2, 4, 8, 3}}},
      {"video_unet", Video(), {{2, 3, 2, 4, 3}, {2}, {2, 2, 6}, {2, 2}}},
      {"pixel_unet", Pixels(), {{2, 4, 6, 3}, {2}, {2, 3, 5}}},
      {"pixel_unet that enlarges", Enlarging(), {{2, 4, 8, 3}, {2}, {2, 3, 5}, {2, 2, 4, 3}, {2}}}};
}

VarTuple InputsOf(const Sequential& network, const UNetCase& one, DType dtype) {
  VarTuple vars;
  for (std::size_t i = 0; i < one.shapes.size(); ++i) {
    const NetworkInput& input = network.inputs()[i];
    const double scale = input.role == InputRole::kTime ? 10 : 1;
    vars.push_back({input.role == InputRole::kLabel
                        ? MakeTensor<std::int64_t>(one.shapes[i], {0, 2}, DType::kI64)
                        : RandomTensor(one.shapes[i], i, TypeOf(input, dtype), 0, scale)});
  }
  return vars;
}

// Fills all parameters at random: one that starts at zero would hide what is behind it.
void Scatter(TestEnvironment& environment, Module& network) {
  for (const Parameter* parameter : network.Parameters()) {
    const Tensor value = environment.store().Value(*parameter);
    const double center = parameter->name == "weight" && value.shape().rank() == 1 ? 1 : 0;
    const Tensor random = RandomTensor(value.shape(), 100 + parameter->index, value.dtype(),
                                       center - 0.3, center + 0.3);
    if (value.bytes() > 0)
      std::memcpy(value.raw(), random.raw(), static_cast<std::size_t>(value.bytes()));
  }
}

struct Outcome {
  Tensor output;
  std::vector<Tensor> gradients;
  BytesByTag peak;
  double flops = 0;
};

Outcome Run(const UNetCase& one, Sequential& network, const EnvironmentKind& kind) {
  TestEnvironment environment(kind);
  if (!kind.dry) Scatter(environment, network);
  const VarTuple inputs = InputsOf(network, one, kind.dtype);
  const Function run = [&](Context& context, const Var& x) {
    VarTuple vars = inputs;
    vars[0] = x;
    network(context, vars);
    REQUIRE(vars.size() == 1);
    return vars[0];
  };
  Outcome outcome;
  outcome.output = RunPass(environment, run, inputs[0].value).output;
  if (!kind.dry) outcome.gradients = GradientsOf(environment, network);
  outcome.peak = environment.ledger().peak();
  outcome.flops = environment.context().profile().flops;
  return outcome;
}

CheckpointSegments Every(std::size_t every, std::size_t count) {
  CheckpointSegments segments;
  for (std::size_t begin = 0; begin < count; begin += every) {
    segments.push_back({begin, std::min(begin + every, count)});
  }
  return segments;
}

double LossOf(const UNetCase& one, Sequential& network, TestEnvironment& environment) {
  VarTuple vars = InputsOf(network, one, environment.dtype());
  network(environment.context(), vars);
  return Dot(vars[0].value, RandomTensor(vars[0].shape(), 99, environment.dtype()));
}

// The derivative along a random direction of all parameters.
double SlopeByDifferences(const UNetCase& one, Sequential& network, TestEnvironment& environment) {
  const double step = 1e-7;
  const auto move = [&](double by) {
    for (const Parameter* parameter : network.Parameters()) {
      std::size_t i = 0;
      const Tensor tensor = environment.store().Value(*parameter);
      for (double& value : tensor.values<double>()) {
        value += by * UniformAt(1000 + parameter->index, i++);
      }
    }
  };
  move(step);
  const double above = LossOf(one, network, environment);
  move(-2 * step);
  const double below = LossOf(one, network, environment);
  move(step);
  return (above - below) / (2 * step);
}

TEST_CASE("gradients of U-Nets of other shapes are those of differences", "[layers][gradient]") {
  for (const UNetCase& one : Cases()) {
    INFO(one.name);
    const auto network = BuildArchitecture(one.config);
    const Outcome outcome = Run(one, *network, kReferenceF64);
    double slope = 0;
    for (std::size_t p = 0; p < outcome.gradients.size(); ++p) {
      REQUIRE(outcome.gradients[p]);
      const std::vector<double> gradient = Values(outcome.gradients[p]);
      for (std::size_t i = 0; i < gradient.size(); ++i)
        slope += gradient[i] * UniformAt(1000 + p, i);
    }
    TestEnvironment environment(kReferenceF64);
    Scatter(environment, *network);
    const double expected = SlopeByDifferences(one, *network, environment);
    CHECK(slope == Approx(expected).epsilon(1e-5));
    CHECK(std::abs(expected) > 1e-3);
  }
}

TEST_CASE("checkpointed U-Nets have the bits of plain ones", "[layers][checkpoint]") {
  for (const UNetCase& one : Cases()) {
    const auto network = BuildArchitecture(one.config);
    const Outcome plain = Run(one, *network, kOneDnnF32);
    for (const std::size_t every : {1u, 3u}) {
      INFO(one.name << ", every " << every);
      network->SetSegments(Every(every, network->size()));
      const Outcome saved = Run(one, *network, kOneDnnF32);
      CHECK(SameBits(plain.output, saved.output));
      CHECK(SameBits(plain.gradients, saved.gradients));
    }
  }
}

TEST_CASE("dry U-Nets take the memory of real ones", "[layers][dry]") {
  for (const UNetCase& one : Cases()) {
    for (EnvironmentKind kind : {kReferenceF64, kOneDnnF32}) {
      INFO(one.name << " on " << kind);
      const auto network = BuildArchitecture(one.config);
      network->SetSegments(Every(3, network->size()));
      const Outcome real = Run(one, *network, kind);
      kind.dry = true;
      const Outcome dry = Run(one, *network, kind);
      CHECK(real.peak[MemoryTag::kActivation] == dry.peak[MemoryTag::kActivation]);
      CHECK(real.flops == dry.flops);
    }
  }
}

TEST_CASE("layers and parameters of U-Nets have names of their own", "[layers]") {
  for (const UNetCase& one : Cases()) {
    INFO(one.name);
    const auto network = BuildArchitecture(one.config);
    std::set<std::string> paths;
    for (std::size_t i = 0; i < network->size(); ++i) {
      INFO(network->layer(i).path());
      CHECK(paths.insert(network->layer(i).path()).second);
    }
    paths.clear();
    for (const Parameter* parameter : network->Parameters()) {
      INFO(parameter->path);
      CHECK(paths.insert(parameter->path).second);
    }
  }
}

// Stable Diffusion 2.1's, of one context, heads by stage and transformers between products.
TEST_CASE("the U-Net of Stable Diffusion 2.1 has its 865,910,724 parameters", "[layers]") {
  UNetConditionConfig config;
  config.cross_attention_dim = {1024};
  config.attention_head_dim = {5, 10, 20, 20};
  config.use_linear_projection = true;
  CHECK(BuildArchitecture(config)->ParameterCount() == 865910724);
}

std::string RefusalOf(UNetCase one, std::size_t input, const Shape& shape) {
  one.shapes[input] = shape;
  const auto network = BuildArchitecture(one.config);
  TestEnvironment environment({BackendKind::kEigen, DType::kF32, true});
  try {
    VarTuple vars = InputsOf(*network, one, DType::kF32);
    (*network)(environment.context(), vars);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("U-Nets name the input that does not fit", "[layers][errors]") {
  const std::vector<UNetCase> cases = Cases();
  CHECK_THAT(RefusalOf(cases[0], 0, {2, 8, 10, 3}), Catch::Contains("'x'"));
  CHECK_THAT(RefusalOf(cases[0], 0, {2, 8, 8, 4}), Catch::Contains("'x'"));
  CHECK_THAT(RefusalOf(cases[1], 2, {2, 3, 7}), Catch::Contains("'context'"));
  CHECK_THAT(RefusalOf(cases[1], 4, {2, 4}), Catch::Contains("time_ids"));
  CHECK_THAT(RefusalOf(cases[2], 4, {2, 8, 16, 3}), Catch::Contains("'hint'"));
  CHECK_THAT(RefusalOf(cases[3], 4, {2, 8, 16, 3}), Catch::Contains("'hint_4'"));
  CHECK_THAT(RefusalOf(cases[3], 5, {2, 8, 12, 4}), Catch::Contains("'hint_0'"));
  CHECK_THAT(RefusalOf(cases[3], 6, {2, 4}), Catch::Contains("'control_type'"));
  CHECK_THAT(RefusalOf(cases[4], 0, {2, 6, 8, 3}), Catch::Contains("'x'"));
  CHECK_THAT(RefusalOf(cases[5], 3, {2, 3}), Catch::Contains("'time_ids'"));
  CHECK_THAT(RefusalOf(cases[6], 0, {2, 4, 5, 3}), Catch::Contains("'x'"));
  CHECK_THAT(RefusalOf(cases[6], 2, {2, 3, 6}), Catch::Contains("'context'"));
  CHECK_THAT(RefusalOf(cases[6], 2, {2, 0, 5}), Catch::Contains("'context'"));
  CHECK_THAT(RefusalOf(cases[7], 0, {2, 4, 6, 3}), Catch::Contains("'x'"));  // not by 4
  CHECK_THAT(RefusalOf(cases[7], 3, {2, 4, 8, 3}),
             Catch::Contains("low_resolution is 2 times smaller than x"));
  CHECK_THAT(RefusalOf(cases[7], 3, {2, 2, 4, 1}), Catch::Contains("'low_resolution'"));
  CHECK_THAT(RefusalOf(cases[7], 4, {2, 1}), Catch::Contains("'noise_level'"));
}

std::string RefusalOf(const ArchitectureConfig& config) {
  try {
    BuildArchitecture(config);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("U-Nets name the key whose value does not fit", "[layers][errors]") {
  UNetConfig unet = Unconditional();
  unet.down_block_types[1] = "CrossAttnDownBlock2D";
  CHECK_THAT(RefusalOf(unet), Catch::Contains("unet.down_block_types"));
  unet = Unconditional();
  unet.up_block_types.pop_back();
  CHECK_THAT(RefusalOf(unet), Catch::Contains("unet.up_block_types"));
  unet = Unconditional();
  unet.norm_num_groups = 3;
  CHECK_THAT(RefusalOf(unet), Catch::Contains("unet.norm_num_groups"));
  unet = Unconditional();
  unet.attention_head_dim = 3;
  CHECK_THAT(RefusalOf(unet), Catch::Contains("unet.attention_head_dim"));
  unet = Unconditional();
  unet.block_out_channels.clear();
  CHECK_THAT(RefusalOf(unet), Catch::Contains("unet.block_out_channels"));
  UNetConditionConfig condition = Conditional();
  condition.attention_head_dim = {1, 2, 3};
  CHECK_THAT(RefusalOf(condition), Catch::Contains("unet_condition.attention_head_dim"));
  condition = Conditional();
  condition.transformer_layers_per_block = {1, 2};
  CHECK_THAT(RefusalOf(condition), Catch::Contains("unet_condition.transformer_layers_per_block"));
  condition = Conditional();
  condition.cross_attention_dim = {6, 6, 7};
  CHECK_THAT(RefusalOf(condition), Catch::Contains("unet_condition.cross_attention_dim"));
  condition = Conditional();
  condition.projection_class_embeddings_input_dim = 24;
  CHECK_THAT(RefusalOf(condition), Catch::Contains("projection_class_embeddings_input_dim"));
  ControlNetConfig control = Control();
  control.conditioning_embedding_out_channels.clear();
  CHECK_THAT(RefusalOf(control), Catch::Contains("controlnet.conditioning_embedding_out_channels"));
  VaeKlConfig vae = Autoencoder();
  vae.up_block_types[0] = "UpBlock2D";
  CHECK_THAT(RefusalOf(vae), Catch::Contains("vae_kl.up_block_types"));
  VideoUNetConfig video = Video();
  video.block_out_channels = {32, 48};
  CHECK_THAT(RefusalOf(video), Catch::Contains("video_unet.block_out_channels"));
}

}  // namespace
}  // namespace frugal::testing
