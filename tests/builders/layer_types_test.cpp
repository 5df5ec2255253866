// Types of layers as TOML and LayerList know them.
#include <set>

#include "builders/config/run_config_reader.h"
#include "builders/config/types/layer_registry.h"
#include "builders/plan/planner.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

TEST_CASE("every type of layer has one name and one row") {
  std::set<std::string_view> names;
  for (const LayerType* type : LayerTypes().Rows()) {
    INFO(type->name);
    CHECK(type->fields.name == type->name);
    CHECK(LayerTypeOf(type->defaults) == type);
    CHECK(TypeNameOf({.options = type->defaults, .name = {}, .layers = {}, .shortcut = {}}) ==
          type->name);
    CHECK(names.insert(type->name).second);
    CHECK(FindLayerType(type->name) == type);
  }
  CHECK(FindLayerType("conv4d") == nullptr);
}

constexpr const char* kDecoder = R"(
[[model.layers]]
type = "conv2d"
filters = 4
kernel = 3
[[model.layers]]
type = "upsample"
factor = 3
mode = "bilinear"
[[model.layers]]
type = "conv_transpose2d"
filters = 6
kernel = [3, 2]
stride = [2, 1]
padding = 1
output_padding = [1, 0]
groups = 2
bias = false
initializer = { kind = "normal", b = 0.02 }
[[model.layers]]
type = "rms_norm"
eps = 0.001
[[model.layers]]
type = "to_sequence"
[[model.layers]]
type = "conv1d"
name = "mix"
filters = 3
kernel = 5
stride = 4
activation = "gelu"
[[model.layers]]
type = "lstm"
units = 7
[[model.layers]]
type = "gru"
units = 5
bias = false
[[model.layers]]
type = "sequence_pool"
mode = "last"
)";

void Decoder(LayerList& l) {
  l.Conv2d({.filters = 4, .kernel = {3}});
  l.Upsample({.factor = 3, .mode = Upsampling::kBilinear});
  l.ConvTranspose2d({.filters = 6,
                     .kernel = {3, 2},
                     .stride = {2, 1},
                     .padding = {1},
                     .output_padding = {1, 0},
                     .groups = 2,
                     .bias = false,
                     .initializer = Initializer::Normal(0, 0.02)});
  l.RmsNorm({.eps = 0.001}).ToSequence();
  l.Conv1d({.filters = 3, .kernel = {5}, .stride = {4}, .activation = Activation::kGelu}, "mix");
  l.Lstm({.units = 7}).Gru({.units = 5, .bias = false});
  l.SequencePool({.mode = SequencePooling::kLast});
}

// A line for every layer, then one for every parameter.
std::string Described(const RunConfig& config) {
  const DataLayout layout = SyntheticLayout();
  const PlannedTraining planned = PlanTraining(config, &layout);
  std::string text;
  for (const LayerPlan& layer : planned.plan.layers) {
    text += layer.path + ": " + layer.description + " " + ToString(layer.output) + "\n";
  }
  for (const Parameter* parameter : planned.parameters) {
    text += parameter->path + " " + ToString(parameter->shape) + " " +
            std::string(NameOf(parameter->initializer.kind)) + "\n";
  }
  return text;
}

TEST_CASE("TOML and code describe the same layers") {
  AiModelBuilder builder;
  builder.Layers(Decoder);
  const std::string text = Described(builder.config());
  CHECK(Described(ReadRunConfigText(kDecoder, "run.toml")) == text);
  CheckContains(text,
                "2: conv_transpose2d 4 -> 6, 3x2, stride 2x1, padding 1, output padding 1x0, "
                "2 groups, no bias [64, 36, 17, 6]");
  CheckContains(text, "mix.weight [3, 6, 5] he_normal");
  CheckContains(text, "6.bias_hh_l0 [28] uniform");
  CheckContains(text, "8: sequence_pool, last [64, 5]");
}

std::string LayerRefusal(const std::string& layers) {
  try {
    Described(ReadRunConfigText(layers, "run.toml"));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("a layer on an input of another rank is named with its place") {
  CHECK(LayerRefusal("[[model.layers]]\ntype = \"conv1d\"\nfilters = 2\nkernel = 3") ==
        "run.toml:1:1: [model.layers.0 (conv1d)] conv1d takes [N, L, C]; the input is [64, 8, 8, "
        "2]; use conv2d for such an input");
  CHECK(LayerRefusal(
            "[[model.layers]]\ntype = \"flatten\"\n\n[[model.layers]]\ntype = \"upsample\"") ==
        "run.toml:4:1: [model.layers.1 (upsample)] upsampling takes images [N, H, W, C] and a "
        "factor of at least 1; the input is [64, 128]; give images, channels last");
  CHECK(LayerRefusal("[[model.layers]]\ntype = \"lstm\"\nunits = 2") ==
        "run.toml:1:1: [model.layers.0 (lstm)] lstm takes a sequence [N, T, D] of at least one "
        "position; the input is [64, 8, 8, 2]; put to_sequence before it");
}

TEST_CASE("a key of a layer that was renamed is refused with its name of now") {
  const auto refused = [](const std::string& layer, const std::string& was, const std::string& is) {
    CheckContains(LayerRefusal("[[model.layers]]\ntype = \"" + layer + "\"\n" + was + " = 2"),
                  "'" + was + "' has another name now; write " + is + " in its place");
  };
  refused("lstm", "hidden", "units");
  refused("gru", "hidden", "units");
  refused("embedding", "features", "units");
  refused("embedding", "padding", "padding_token");
  refused("embedding", "deviation", "init_std");
  for (const char* norm : {"batch_norm", "layer_norm", "rms_norm", "group_norm"}) {
    refused(norm, "epsilon", "eps");
  }
}

TEST_CASE("wrong values of layers are refused where they stand") {
  const auto layer = [](const std::string& rest) { return "[[model.layers]]\ntype = " + rest; };
  CheckContains(LayerRefusal(layer("\"upsample\"\nmode = \"cubic\"")),
                "run.toml:3:8: [model.layers.0] 'mode' must be one of nearest, bilinear");
  CheckContains(LayerRefusal(layer("\"upsample\"\nfactor = 0")), "'factor' must be");
  CheckContains(LayerRefusal(layer("\"sequence_pool\"\nmode = \"max\"")),
                "'mode' must be one of mean, first, last");
  CheckContains(LayerRefusal(layer("\"lstm\"")), "key 'units' is required");
  CheckContains(LayerRefusal(layer("\"gru\"\nunits = 0")), "'units' must be");
  CheckContains(LayerRefusal(layer("\"conv1d\"\nfilters = 1\nkernel = [3, 3]")),
                "'kernel' must be");
  CheckContains(LayerRefusal(layer("\"conv3d\"\nfilters = 1\nkernel = [3, 3]")),
                "[model.layers.0 (conv3d)] kernel takes one or three numbers");
  CheckContains(
      LayerRefusal(layer("\"conv_transpose2d\"\nfilters = 1\nkernel = 2\noutput_padding = 1")),
      "output_padding is less than the stride");
  CheckContains(LayerRefusal(layer("\"rms_norm\"\neps = 0.0")), "'eps' must be");
}

TEST_CASE("extents far beyond memory are refused, not computed with") {
  std::string layers;
  for (int i = 0; i < 8; ++i) {
    layers += "[[model.layers]]\ntype = \"upsample\"\nfactor = 4096\n";
  }
  CheckContains(LayerRefusal(layers), "a tensor has at most 2^48 elements");
  layers.clear();
  for (int i = 0; i < 8; ++i) {
    layers +=
        "[[model.layers]]\ntype = \"conv_transpose2d\"\nfilters = 1\nkernel = [2147483647, 1]\n"
        "stride = [4096, 1]\ndilation = 2147483647\n";
  }
  CheckContains(LayerRefusal(layers), "a tensor has at most 2^48 elements");
}

}  // namespace
}  // namespace frugal::testing
