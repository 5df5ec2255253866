#include "sdk/capture/calls/modulation_calls.h"
#include "sdk/capture/calls/norm_calls.h"
#include "tests/capture/call_cases.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kNormRows = 6, kWidth = 10;
const Shape kNormX = {kNormRows, kWidth}, kImages = {2, 5, 8};
constexpr GroupNormGeometry kGroups = {.batch = 2, .size = 5, .channels = 8, .groups = 2};

// Fills what all backward calls of norms have.
template <class T>
void FillBackward(T& c, CallDraw& d, const Shape& x, std::int64_t channels, const Shape& means) {
  c.dy = d.Real(x), c.x = d.Real(x), c.mean = d.Real(means, -0.1, 0.1);
  c.rstd = d.Real(means, 1.5, 2), c.weight = d.Positive({channels}), c.dx = d.Out(x);
  c.dweight = d.Real({channels}), c.dbias = d.Real({channels}), c.accumulate = true;
}

template <class T>
void FillForward(T& c, CallDraw& d, const Shape& x, std::int64_t channels, const Shape& means) {
  c.x = d.Real(x), c.weight = d.Positive({channels}), c.bias = d.Real({channels});
  c.epsilon = 1e-5, c.y = d.Out(x), c.mean = d.Out(means), c.rstd = d.Out(means);
}

std::vector<CallCase> BatchCases() {
  return {
      CaseOf<NormBatchForwardCall>(
          [](auto& c, CallDraw& d) { FillForward(c, d, kNormX, kWidth, {kWidth}), c.relu = true; }),
      CaseOf<NormBatchNormalizeCall>([](auto& c, CallDraw& d) {
        c.x = d.Real(kNormX), c.weight = d.Positive({kWidth}), c.bias = d.Real({kWidth});
        c.mean = d.Real({kWidth}, -0.1, 0.1), c.rstd = d.Real({kWidth}, 1.5, 2),
        c.y = d.Out(kNormX);
      }),
      CaseOf<NormBatchInferenceCall>([](auto& c, CallDraw& d) {
        c.x = d.Real(kNormX), c.weight = d.Positive({kWidth}), c.bias = d.Real({kWidth});
        c.running_mean = d.Real({kWidth}), c.running_variance = d.Positive({kWidth});
        c.epsilon = 1e-5, c.y = d.Out(kNormX);
      }),
      CaseOf<NormBatchBackwardCall>([](auto& c, CallDraw& d) {
        FillBackward(c, d, kNormX, kWidth, {kWidth}), c.bias = d.Real({kWidth}), c.relu = true;
      }),
      CaseOf<NormBatchInferenceBackwardCall>([](auto& c, CallDraw& d) {
        c.dy = d.Real(kNormX), c.x = d.Real(kNormX), c.y = d.Real(kNormX),
        c.running_mean = d.Real({kWidth});
        c.running_variance = d.Positive({kWidth}), c.weight = d.Positive({kWidth});
        c.bias = d.Real({kWidth}), c.epsilon = 1e-5, c.relu = true, c.dx = d.Out(kNormX);
        c.dweight = d.Out({kWidth}), c.dbias = d.Out({kWidth});
      }),
      CaseOf<NormUpdateRunningCall>([](auto& c, CallDraw& d) {
        c.mean = d.Real({kWidth}), c.rstd = d.Real({kWidth}, 1, 2), c.epsilon = 1e-5;
        c.momentum = 0.3, c.rows = 12, c.running_mean = d.Real({kWidth});
        c.running_variance = d.Positive({kWidth});
      }),
  };
}

std::vector<CallCase> ModulationCases() {
  return {
      CaseOf<ModulateCall>([](auto& c, CallDraw& d) {
        c.x = d.Real(kImages), c.shift = d.Real({2, 8}), c.scale = d.Real({2, 8});
        c.y = d.Out(kImages);
      }),
      CaseOf<ModulateBackwardCall>([](auto& c, CallDraw& d) {
        c.dy = d.Real(kImages), c.x = d.Real(kImages), c.scale = d.Real({2, 8});
        c.dx = d.Out(kImages), c.dshift = d.Out({2, 8}), c.dscale = d.Out({2, 8});
      }),
      CaseOf<GatedAddCall>([](auto& c, CallDraw& d) {
        c.x = d.Real(kImages), c.gate = d.Real({2, 8}), c.residual = d.Real(kImages);
        c.y = d.Out(kImages);
      }),
      CaseOf<GatedAddBackwardCall>([](auto& c, CallDraw& d) {
        c.dy = d.Real(kImages), c.x = d.Real(kImages), c.gate = d.Real({2, 8});
        c.dx = d.Out(kImages), c.dgate = d.Out({2, 8});
      }),
      CaseOf<ModulationLayerForwardCall>([](auto& c, CallDraw& d) {
        c.x = d.Real(kImages), c.parts.weight = d.Positive({8}), c.parts.bias = d.Real({8});
        c.parts.shift = d.Real({2, 8}), c.parts.scale = d.Real({2, 8}), c.epsilon = 1e-5;
        c.y = d.Out(kImages), c.mean = d.Out({10}), c.rstd = d.Out({10});
      }),
      CaseOf<ModulationLayerBackwardCall>([](auto& c, CallDraw& d) {
        c.dy = d.Real(kImages), c.x = d.Real(kImages), c.mean = d.Real({10}, -0.1, 0.1);
        c.rstd = d.Real({10}, 1.5, 2), c.parts.weight = d.Positive({8});
        c.parts.bias = d.Real({8}), c.parts.shift = d.Real({2, 8});
        c.parts.scale = d.Real({2, 8}), c.gradients.x = d.Out(kImages);
        c.gradients.weight = d.Real({8}), c.gradients.bias = d.Real({8});
        c.gradients.shift = d.Out({2, 8}), c.gradients.scale = d.Out({2, 8});
        c.gradients.accumulate = true;
      }),
  };
}

}  // namespace

std::vector<CallCase> NormCallCases() {
  std::vector<CallCase> cases = {
      CaseOf<NormLayerForwardCall>(
          [](auto& c, CallDraw& d) { FillForward(c, d, kNormX, kWidth, {kNormRows}); }),
      CaseOf<NormLayerBackwardCall>(
          [](auto& c, CallDraw& d) { FillBackward(c, d, kNormX, kWidth, {kNormRows}); }),
      CaseOf<NormGroupForwardCall>([](auto& c, CallDraw& d) {
        c.g = kGroups, FillForward(c, d, kImages, 8, {2, 2});
      }),
      CaseOf<NormGroupNormalizeCall>([](auto& c, CallDraw& d) {
        c.g = kGroups, c.x = d.Real(kImages), c.weight = d.Positive({8}), c.bias = d.Real({8});
        c.mean = d.Real({2, 2}), c.rstd = d.Real({2, 2}, 1, 2), c.y = d.Out(kImages);
      }),
      CaseOf<NormGroupBackwardCall>([](auto& c, CallDraw& d) {
        c.g = kGroups, FillBackward(c, d, kImages, 8, {2, 2});
      }),
  };
  for (const auto& more : {BatchCases(), ModulationCases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

}  // namespace frugal::testing
