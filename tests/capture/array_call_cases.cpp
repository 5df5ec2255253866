#include "sdk/capture/calls/array_calls.h"
#include "tests/capture/call_cases.h"

namespace frugal::testing {

std::vector<CallCase> ArrayCallCases() {
  return {
      CaseOf<CopyStridedCall>([](auto& c, CallDraw& d) {
        c.extents = {3, 4}, c.from = d.Real({3, 4}), c.from_box = {.strides = {4, 1}};
        c.to = d.Out({5, 9}), c.to_box = {.offset = 11, .strides = {9, 2}};
      }),
      CaseOf<BinaryCall>([](auto& c, CallDraw& d) {
        c.kind = BinaryKind::kSubtract, c.a = d.Real({4, 5}), c.b = d.Real({4, 5});
        c.y = d.Out({4, 5});
      }),
      CaseOf<UnaryForwardCall>([](auto& c, CallDraw& d) {
        c.f = {.kind = UnaryKind::kPow, .a = 3}, c.x = d.Real({4, 5}), c.y = d.Out({4, 5});
      }),
      CaseOf<UnaryBackwardCall>([](auto& c, CallDraw& d) {
        c.f = {.kind = UnaryKind::kLog}, c.dy = d.Real({4, 5}), c.kept = d.Positive({4, 5});
        c.dx = c.dy;
      }),
      CaseOf<SelectCall>([](auto& c, CallDraw& d) {
        c.condition = d.Real({4, 5});
        for (float& value : c.condition.template values<float>()) value = value > 0 ? 1.F : 0.F;
        c.a = d.Real({4, 5}), c.b = d.Real({4, 5}), c.y = d.Out({4, 5});
      }),
      CaseOf<SumToCall>([](auto& c, CallDraw& d) {
        c.x = d.Real({4, 5, 3}), c.factor = 0.5, c.y = d.Out({4, 1, 3});
      }),
      CaseOf<BatchedProductCall>([](auto& c, CallDraw& d) {
        c.a = d.Real({2, 5, 5}), c.b = d.Real({2, 5, 5}), c.transpose_b = true;
        c.y = d.Out({2, 5, 5});
      }),
      CaseOf<GatherCall>([](auto& c, CallDraw& d) {
        c.table = d.Real({13, 6}), c.ids = d.Labels({4, 3}, 13), c.y = d.Out({4, 3, 6});
      }),
      CaseOf<ScatterAddCall>([](auto& c, CallDraw& d) {
        c.dy = d.Real({12, 6}), c.ids = d.Labels({12}, 13), c.dtable = d.Real({13, 6});
        c.accumulate = true, c.padding = -1;
      }),
  };
}

}  // namespace frugal::testing
