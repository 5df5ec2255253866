#include "sdk/capture/calls/conv_calls.h"
#include "sdk/capture/calls/pool_calls.h"
#include "sdk/capture/calls/resample_calls.h"
#include "tests/capture/call_cases.h"

namespace frugal::testing {
namespace {

// A 3 x 3 window on images of 7 x 6 with a border of 1 and steps of 2.
WindowGeometry Window() {
  return {.batch = 2,
          .input = {1, 7, 6},
          .output = {1, 4, 3},
          .kernel = {1, 3, 3},
          .stride = {1, 2, 2},
          .padding_begin = {0, 1, 1},
          .padding_end = {0, 1, 0},
          .dilation = {1, 1, 1}};
}
ConvGeometry Conv() {
  return {.window = Window(), .input_channels = 5, .output_channels = 8, .groups = 1};
}
PoolGeometry Pool() { return {.window = Window(), .channels = 5, .count_padding = false}; }

const Shape kWindowX = {2, 7, 6, 5}, kY = {2, 4, 3, 8}, kPooled = {2, 4, 3, 5};

}  // namespace

std::vector<CallCase> WindowCallCases() {
  return {
      CaseOf<ConvForwardCall>([](auto& c, CallDraw& d) {
        c.g = Conv(), c.x = d.Real(kWindowX), c.weight = d.Real({8, 5, 3, 3}), c.bias = d.Real({8});
        c.y = d.Out(kY), c.epilogue = {.activation = Activation::kRelu};
      }),
      CaseOf<ConvBackwardDataCall>([](auto& c, CallDraw& d) {
        c.g = Conv(), c.dy = d.Real(kY), c.weight = d.Real({8, 5, 3, 3}), c.dx = d.Out(kWindowX);
      }),
      CaseOf<ConvBackwardWeightCall>([](auto& c, CallDraw& d) {
        c.g = Conv(), c.dy = d.Real(kY), c.x = d.Real(kWindowX), c.dweight = d.Real({8, 5, 3, 3});
        c.dbias = d.Real({8}), c.accumulate = true;
      }),
      CaseOf<PoolMaxForwardCall>(
          [](auto& c, CallDraw& d) { c.g = Pool(), c.x = d.Real(kWindowX), c.y = d.Out(kPooled); }),
      CaseOf<PoolMaxBackwardCall>([](auto& c, CallDraw& d) {
        c.g = Pool(), c.x = d.Real(kWindowX), c.dy = d.Real(kPooled), c.dx = d.Out(kWindowX);
      }),
      CaseOf<PoolAverageForwardCall>(
          [](auto& c, CallDraw& d) { c.g = Pool(), c.x = d.Real(kWindowX), c.y = d.Out(kPooled); }),
      CaseOf<PoolAverageBackwardCall>([](auto& c, CallDraw& d) {
        c.g = Pool(), c.dy = d.Real(kPooled), c.dx = d.Out(kWindowX);
      }),
      CaseOf<PoolAdaptiveForwardCall>(
          [](auto& c, CallDraw& d) { c.g = Pool(), c.x = d.Real(kWindowX), c.y = d.Out(kPooled); }),
      CaseOf<PoolAdaptiveBackwardCall>([](auto& c, CallDraw& d) {
        c.g = Pool(), c.dy = d.Real(kPooled), c.dx = d.Out(kWindowX);
      }),
      CaseOf<ResampleNearestForwardCall>([](auto& c, CallDraw& d) {
        c.factor = 2, c.x = d.Real({2, 3, 4, 5}), c.y = d.Out({2, 6, 8, 5});
      }),
      CaseOf<ResampleNearestBackwardCall>([](auto& c, CallDraw& d) {
        c.factor = 2, c.dy = d.Real({2, 6, 8, 5}), c.dx = d.Out({2, 3, 4, 5});
      }),
      CaseOf<ResampleBilinearForwardCall>([](auto& c, CallDraw& d) {
        c.factor = 2, c.x = d.Real({2, 3, 4, 5}), c.y = d.Out({2, 6, 8, 5});
      }),
      CaseOf<ResampleBilinearBackwardCall>([](auto& c, CallDraw& d) {
        c.factor = 2, c.dy = d.Real({2, 6, 8, 5}), c.dx = d.Out({2, 3, 4, 5});
      }),
  };
}

}  // namespace frugal::testing
