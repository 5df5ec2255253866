#include "layers/convolution.h"
#include "layers/transposed_convolution.h"
#include "layers/upsample.h"
#include "tests/support/layer_case_families.h"

namespace frugal::testing {
namespace {

std::vector<LayerCase> OtherConvolutionCases() {
  return {
      {"conv1d",
       {2, 9, 4},
       {2, 5, 6},
       78,
       Maker<Conv1d>(4, Conv1dOptions{.filters = 6,
                                      .kernel = {3},
                                      .stride = {2},
                                      .padding = {1},
                                      .activation = Activation::kTanh})},
      {"conv1d in groups",
       {2, 9, 4},
       {2, 5, 2},
       12,
       Maker<Conv1d>(
           4,
           Conv1dOptions{
               .filters = 2, .kernel = {3}, .dilation = {2}, .groups = 2, .bias = false})},
      {"conv3d",
       {2, 4, 5, 3, 2},
       {2, 4, 2, 3, 3},
       39,
       Maker<Conv3d>(
           2, Conv3dOptions{
                  .filters = 3, .kernel = {3, 2, 1}, .stride = {1, 2, 1}, .padding = {1, 0, 0}})}};
}

std::vector<LayerCase> TransposedCases() {
  return {
      {"conv_transpose2d",
       {3, 6, 5, 4},
       {3, 12, 10, 6},
       114,
       Maker<ConvTranspose2d>(4, ConvTranspose2dOptions{.filters = 6,
                                                        .kernel = {3},
                                                        .stride = {2},
                                                        .padding = {1},
                                                        .output_padding = {1},
                                                        .groups = 2})},
      {"conv_transpose2d dilated",
       {2, 3, 4, 2},
       {2, 5, 8, 3},
       39,
       Maker<ConvTranspose2d>(2, ConvTranspose2dOptions{.filters = 3,
                                                        .kernel = {3, 2},
                                                        .stride = {1, 2},
                                                        .padding = {1, 0},
                                                        .dilation = {2, 1}})},
      {"conv_transpose1d",
       {2, 5, 3},
       {2, 16, 4},
       48,
       Maker<ConvTranspose1d>(
           3, ConvTranspose1dOptions{.filters = 4, .kernel = {4}, .stride = {3}, .bias = false})},
      {"conv_transpose3d",
       {2, 2, 3, 2, 2},
       {2, 3, 4, 3, 3},
       51,
       Maker<ConvTranspose3d>(2, ConvTranspose3dOptions{.filters = 3, .kernel = {2}})}};
}

}  // namespace

std::vector<LayerCase> WindowLayerCases() {
  std::vector<LayerCase> cases = OtherConvolutionCases();
  for (LayerCase& one : TransposedCases()) cases.push_back(std::move(one));
  cases.push_back(
      {"upsample", {3, 6, 5, 4}, {3, 12, 10, 4}, 0, Maker<UpsampleLayer>(UpsampleOptions{})});
  cases.push_back(
      {"upsample bilinear",
       {2, 3, 2, 4},
       {2, 9, 6, 4},
       0,
       Maker<UpsampleLayer>(UpsampleOptions{.factor = 3, .mode = Upsampling::kBilinear})});
  return cases;
}

}  // namespace frugal::testing
