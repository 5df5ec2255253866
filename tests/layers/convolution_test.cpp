#include "layers/convolution.h"

#include "layers/transposed_convolution.h"
#include "layers/upsample.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/layer_cases.h"
#include "tests/support/passes.h"

// Convolutions of every rank and their transposes. What holds for every layer is in layers_test.
namespace frugal::testing {
namespace {

using Made = std::unique_ptr<Layer>;

// Forward and backward; the layers' parameters have the same paths, so the same random values.
Pass PassOf(Made made, const Tensor& input) {
  const Made layer = Ready(std::move(made));
  TestEnvironment environment(kReferenceF64);
  return RunPass(
      environment, [&](Context& context, const Var& x) { return (*layer)(context, x); }, input);
}

void CheckSameValues(const Pass& a, const Pass& b) {
  REQUIRE(a.output_shape.ElementCount() == b.output_shape.ElementCount());
  CHECK(RelativeError(a.output.Reshape(b.output.shape()), b.output) < 1e-14);
  CHECK(RelativeError(a.input_gradient.Reshape(b.input_gradient.shape()), b.input_gradient) <
        1e-14);
}

TEST_CASE("a convolution over fewer axes is one over more, of extent one", "[layers]") {
  const Tensor signal = RandomTensor({2, 9, 4}, 1, DType::kF64);
  CheckSameValues(
      PassOf(std::make_unique<Conv1d>(4, Conv1dOptions{.filters = 3,
                                                       .kernel = {3},
                                                       .stride = {2},
                                                       .padding = {1},
                                                       .initializer = Initializer::Normal(0, 1)}),
             signal),
      PassOf(std::make_unique<Conv2d>(4, Conv2dOptions{.filters = 3,
                                                       .kernel = {1, 3},
                                                       .stride = {1, 2},
                                                       .padding = {0, 1},
                                                       .initializer = Initializer::Normal(0, 1)}),
             signal.Reshape({2, 1, 9, 4})));
  const Tensor image = RandomTensor({2, 5, 4, 2}, 1, DType::kF64);
  CheckSameValues(PassOf(std::make_unique<ConvTranspose2d>(
                             2, ConvTranspose2dOptions{.filters = 3,
                                                       .kernel = {3, 2},
                                                       .stride = {2, 1},
                                                       .output_padding = {1, 0},
                                                       .initializer = Initializer::Normal(0, 1)}),
                         image),
                  PassOf(std::make_unique<ConvTranspose3d>(
                             2, ConvTranspose3dOptions{.filters = 3,
                                                       .kernel = {1, 3, 2},
                                                       .stride = {1, 2, 1},
                                                       .output_padding = {0, 1, 0},
                                                       .initializer = Initializer::Normal(0, 1)}),
                         image.Reshape({2, 1, 5, 4, 2})));
}

TEST_CASE("one number counts for all axes", "[layers]") {
  const Tensor volume = RandomTensor({1, 4, 5, 6, 2}, 1, DType::kF64);
  const auto conv = [&](const PerAxis& kernel, const PerAxis& padding) {
    return PassOf(std::make_unique<Conv3d>(
                      2, Conv3dOptions{.filters = 3, .kernel = kernel, .padding = padding}),
                  volume);
  };
  CHECK(SameBits(conv({3}, {1}).output, conv({3, 3, 3}, {1, 1, 1}).output));
}

TEST_CASE("a transposed convolution undoes the shape of its convolution", "[layers]") {
  for (const std::int64_t extent : {5, 6, 7, 8}) {
    const Tensor x = RandomTensor({1, extent, extent, 2}, 1, DType::kF64);
    const Pass down =
        PassOf(std::make_unique<Conv2d>(
                   2, Conv2dOptions{.filters = 3, .kernel = {3}, .stride = {2}, .padding = {1}}),
               x);
    const Pass up = PassOf(std::make_unique<ConvTranspose2d>(
                               3, ConvTranspose2dOptions{.filters = 2,
                                                         .kernel = {3},
                                                         .stride = {2},
                                                         .padding = {1},
                                                         .output_padding = {(extent + 1) % 2}}),
                           down.output);
    CHECK(up.output_shape == x.shape());
  }
}

TEST_CASE("weights of convolutions have the public layouts", "[layers]") {
  const auto weight = [](Layer&& layer) { return layer.Parameters()[0]->shape; };
  CHECK(weight(Conv1d(4, {.filters = 6, .kernel = {5}, .groups = 2})) == Shape({6, 2, 5}));
  CHECK(weight(Conv3d(4, {.filters = 6, .kernel = {2, 3, 4}})) == Shape({6, 4, 2, 3, 4}));
  CHECK(weight(ConvTranspose1d(4, {.filters = 6, .kernel = {5}})) == Shape({4, 6, 5}));
  CHECK(weight(ConvTranspose2d(4, {.filters = 6, .kernel = {3, 2}, .groups = 2})) ==
        Shape({4, 3, 3, 2}));
  CHECK(weight(ConvTranspose3d(4, {.filters = 1, .kernel = {2}})) == Shape({4, 1, 2, 2, 2}));
}

TEST_CASE("convolutions of every rank describe themselves", "[layers]") {
  CHECK(Conv1d(4, {.filters = 8, .kernel = {3}, .padding = {1}, .activation = Activation::kRelu})
            .Describe() == "conv1d 4 -> 8, kernel 3, stride 1, padding 1, relu");
  CHECK(Conv3d(4, {.filters = 8, .kernel = {3, 1, 2}, .stride = {2}, .padding = {1, 0, 0}})
            .Describe() == "conv3d 4 -> 8, 3x1x2, stride 2, padding 1x0x0");
  CHECK(ConvTranspose2d(4, {.filters = 8,
                            .kernel = {3},
                            .stride = {2},
                            .padding = {1},
                            .output_padding = {1},
                            .groups = 2,
                            .bias = false})
            .Describe() ==
        "conv_transpose2d 4 -> 8, 3x3, stride 2, padding 1, output padding 1, "
        "2 groups, no bias");
  CHECK(UpsampleLayer({.factor = 3, .mode = Upsampling::kBilinear}).Describe() ==
        "upsample by 3, bilinear");
}

template <class LayerType, class Options>
std::string Refusal(const Options& options) {
  try {
    LayerType(4, options);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("convolutions of other ranks refuse wrong options", "[layers][errors]") {
  CHECK(Refusal<Conv1d>(Conv1dOptions{.filters = 1, .kernel = {3, 3}}) ==
        "[conv1d] kernel takes one number; [3, 3] was given; give one number");
  CHECK(Refusal<Conv1d>(Conv1dOptions{.filters = 1}) ==
        "[conv1d] kernel takes one number; [] was given; give one number");
  CHECK(Refusal<Conv3d>(Conv3dOptions{.filters = 1, .kernel = {3, 3}}) ==
        "[conv3d] kernel takes one or three numbers; [3, 3] was given; give one number for all "
        "axes, or [depth, height, width]");
  CHECK(Refusal<Conv3d>(Conv3dOptions{.filters = 1, .kernel = {3, 0, 3}}) ==
        "[conv3d] kernel is at least 1; [3, 0, 3] was given; give one number for all axes, or "
        "[depth, height, width]");
  CHECK(Refusal<ConvTranspose2d>(ConvTranspose2dOptions{.kernel = {2}}) ==
        "[conv_transpose2d] filters is at least 1; filters = 0; say how many output channels the "
        "layer has");
  CHECK(
      Refusal<ConvTranspose2d>(ConvTranspose2dOptions{.filters = 3, .kernel = {2}, .groups = 2}) ==
      "[conv_transpose2d] groups divide the input channels (4) and the filters (3); groups = 2; "
      "choose a common divisor");
  CHECK(Refusal<ConvTranspose2d>(ConvTranspose2dOptions{
            .filters = 1, .kernel = {2}, .stride = {2, 3}, .output_padding = {2}}) ==
        "[conv_transpose2d] output_padding is less than the stride; output_padding = 2, stride = "
        "2x3; a larger result needs a larger kernel or stride");
  CHECK_THROWS_WITH(UpsampleLayer({.factor = 0}),
                    "[upsample] factor is at least 1; factor = 0; 2 doubles height and width");
}

TEST_CASE("convolutions and upsampling refuse inputs of another rank", "[layers][errors]") {
  const auto refused = [](Made made, const Shape& input) -> std::string {
    try {
      PassOf(std::move(made), RandomTensor(input, 1, DType::kF64));
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto conv1d = [] {
    return std::make_unique<Conv1d>(3, Conv1dOptions{.filters = 1, .kernel = {1}});
  };
  CHECK(refused(conv1d(), {2, 4, 4, 3}) ==
        "[net] conv1d takes [N, L, C]; the input is [2, 4, 4, 3]; use conv2d for such an input");
  CHECK(refused(conv1d(), {2, 3}) ==
        "[net] conv1d takes [N, L, C]; the input is [2, 3]; put it where the input still has its "
        "positions, e.g. before flatten");
  CHECK(refused(conv1d(), {2, 4, 5}) ==
        "[net] convolution takes 3 channels; the input is [2, 4, 5]; change the layer's input "
        "channels");
  CHECK(
      refused(std::make_unique<Conv3d>(3, Conv3dOptions{.filters = 1, .kernel = {1}}), {2, 4, 3}) ==
      "[net] conv3d takes [N, D, H, W, C]; the input is [2, 4, 3]; use conv1d for such an "
      "input");
  CHECK(refused(std::make_unique<ConvTranspose2d>(
                    3, ConvTranspose2dOptions{.filters = 1, .kernel = {1}}),
                {2, 4, 4, 4, 3}) ==
        "[net] conv_transpose2d takes [N, H, W, C]; the input is [2, 4, 4, 4, 3]; use "
        "conv_transpose3d for such an input");
  CHECK(refused(std::make_unique<UpsampleLayer>(UpsampleOptions{}), {2, 4, 3}) ==
        "[net] upsampling takes images [N, H, W, C] and a factor of at least 1; the input is "
        "[2, 4, 3]; give images, channels last");
}

TEST_CASE("a transposed convolution refuses padding that leaves nothing", "[layers][errors]") {
  CHECK_THROWS_AS(
      PassOf(std::make_unique<ConvTranspose2d>(
                 3, ConvTranspose2dOptions{.filters = 1, .kernel = {2}, .padding = {2}}),
             RandomTensor({1, 2, 2, 3}, 1, DType::kF64)),
      ShapeError);
}

}  // namespace
}  // namespace frugal::testing
