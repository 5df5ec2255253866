// Transformer blocks may skip their context, or attend to an image's tokens in it apart from the
// text.
#include "layers/architectures/unet/face_tokens.h"
#include "layers/architectures/unet/unet_condition.h"
#include "layers/blocks/transformer_block.h"
#include "sdk/core/error.h"
#include "sdk/ops/elementwise.h"
#include "tests/ops/gradient_model.h"

namespace frugal::testing {
namespace {

template <class Part, class Options>
std::unique_ptr<Part> MadePart(const Options& options) {
  auto part = std::make_unique<Part>(options);
  part->AssignPaths("net");
  NumberParameters(*part);
  return part;
}

std::unique_ptr<TransformerBlock> Block(const ContextUse& use) {
  return MadePart<TransformerBlock>(
      TransformerBlockOptions{.features = 8, .heads = 2, .context_features = 6, .context = use});
}

const Parameter& Find(Module& module, std::string_view path) {
  for (const Parameter* parameter : module.Parameters()) {
    if (parameter->path == path) return *parameter;
  }
  FAIL(path);
  throw UsageError("none");
}

// Checks the gradients of the inputs and of the parameters under `prefix`, which must be `count`.
void CheckGradients(Module& module, const std::string& prefix, std::size_t count,
                    const CheckedFunction& function, const std::vector<Tensor>& inputs) {
  TestEnvironment environment(kReferenceF64);
  std::vector<OutsideLeaf> leaves;
  for (const Parameter* parameter : module.Parameters()) {
    if (parameter->path.starts_with(prefix)) leaves.push_back(LeafOf(environment, *parameter));
  }
  CHECK(leaves.size() == count);
  for (const double error :
       FiniteDifferenceErrors(environment.context(), function, inputs, leaves)) {
    CHECK(error < 1e-6);
  }
}

TEST_CASE("gradients of decoupled cross attention agree with differences") {
  const auto block = Block({.image_tokens = 2});
  const auto cross = [&](Context& context, const std::vector<Var>& x) {
    return block->CrossAttend(context, x[0], x[1]);
  };
  // to_q, to_k, to_v, to_out.0 with its bias, and the two of the image
  CheckGradients(*block, "net.attn2", 7, cross, {Numbers({2, 3, 8}, 1), Numbers({2, 5, 6}, 2)});
  CheckGradients(*block, "net.attn2", 7, cross, {Numbers({1, 1, 8}, 1), Numbers({1, 3, 6}, 2)});
}

TEST_CASE("gradients of a block that skips its context agree with differences") {
  const auto block = Block({.skipped = true});
  const auto cross = [&](Context& context, const std::vector<Var>& x) {
    return block->CrossAttend(context, x[0], x[0]);
  };
  CheckGradients(*block, "net.norm2", 2, cross, {Numbers({2, 3, 8}, 1)});
  for (const Parameter* parameter : block->Parameters()) {
    CHECK_FALSE(parameter->path.starts_with("net.attn2"));
  }
}

TEST_CASE("gradients of a face's tokens agree with differences") {
  const auto face = MadePart<architectures::FaceTokens>(
      architectures::FaceTokensOptions{.inputs = 5, .tokens = 3, .features = 4});
  const auto tokens = [&](Context& context, const std::vector<Var>& x) {
    return (*face)(context, x[0]);
  };
  CheckGradients(*face, "net", 6, tokens, {Numbers({2, 5}, 1)});
}

TEST_CASE("an image's tokens are attended to beside the text, not among it") {
  const auto block = Block({.image_tokens = 2});
  const auto plain = Block({});
  const Tensor x = Numbers({1, 3, 8}, 1);
  const Tensor memory = Numbers({1, 6, 6}, 2);
  const Tensor text = Uninitialized({1, 4, 6}, DType::kF64);
  std::ranges::copy(memory.values<double>().first(24), text.data<double>());
  const auto run = [&](TransformerBlock& one, const Tensor& context, bool with_values) {
    TestEnvironment environment(kReferenceF64);  // equal paths, so equal weights
    if (!with_values) {
      const Parameter& values = Find(one, "net.attn2.processor.to_v_ip.0.weight");
      std::ranges::fill(environment.store().Value(values).values<double>(), 0.0);
    }
    return CopyOf(one.CrossAttend(environment.context(), {x}, {context}).value);
  };
  const Tensor over_text = run(*plain, text, true);
  CHECK(SameBits({run(*block, memory, false)}, {over_text}));
  CHECK_FALSE(SameBits({run(*block, memory, true)}, {over_text}));
}

TEST_CASE("attention of one memory refuses a second") {
  AttentionLayer layer(8, {.heads = 2, .fused = false});
  TestEnvironment environment(kReferenceF64);
  const Var x = {Numbers({1, 2, 8}, 1)};
  CHECK_THROWS_AS(layer.AttendBoth(environment.context(), x, x, x), UsageError);
}

UNetConditionConfig SmallUNet() {
  UNetConditionConfig config;
  config.sample_size = 8;
  config.down_block_types = {"DownBlock2D", "CrossAttnDownBlock2D"};
  config.up_block_types = {"CrossAttnUpBlock2D", "UpBlock2D"};
  config.block_out_channels = {8, 16};
  config.layers_per_block = {1};
  config.cross_attention_dim = {6};
  config.attention_head_dim = {2};
  config.norm_num_groups = 4;
  return config;
}

std::vector<std::string> InputNames(const UNetConditionConfig& config) {
  std::vector<std::string> names;
  const auto network = MakeUNetCondition(config);
  for (const NetworkInput& input : network->inputs()) names.push_back(input.name);
  return names;
}

TEST_CASE("U-Nets take what their use of the context needs") {
  using Names = std::vector<std::string>;
  UNetConditionConfig config = SmallUNet();
  config.num_class_embeds = 3;
  CHECK(InputNames(config) == Names{"x", "t", "context", "class_labels"});
  config.ip_adapter_tokens = 2;
  CHECK(InputNames(config) == Names{"x", "t", "context", "class_labels", "image_embeds"});
  config.skip_cross_attention = true;
  CHECK_THROWS_AS(MakeUNetCondition(config), ConfigError);
  config.ip_adapter_tokens = 0;
  CHECK(InputNames(config) == Names{"x", "t", "class_labels"});
  config.only_cross_attention = true;
  CHECK_THROWS_AS(MakeUNetCondition(config), ConfigError);
}

// Real passes over the whole network; each of its inputs reaches the output's shape.
TEST_CASE("U-Nets run with a face's features, and without a context") {
  for (const bool face : {false, true}) {
    UNetConditionConfig config = SmallUNet();
    config.ip_adapter_tokens = face ? 2 : 0;
    config.ip_adapter_embed_dim = 5;
    config.skip_cross_attention = !face;
    const auto network = MakeUNetCondition(config);
    network->AssignPaths("");
    NumberParameters(*network);
    TestEnvironment environment(kReferenceF32);
    VarTuple vars;
    for (const NetworkInput& input : network->inputs()) {
      vars.push_back({RandomTensor(BatchShape(input, 2), 3, DType::kF32)});
    }
    (*network)(environment.context(), vars);
    REQUIRE(vars.size() >= 1);
    CHECK(vars[0].shape() == Shape({2, 8, 8, 4}));
    for (const Parameter* parameter : network->Parameters()) {
      INFO(parameter->path);
      CHECK(environment.store().IsMaterialized(*parameter));  // nothing is left out
    }
  }
}

}  // namespace
}  // namespace frugal::testing
