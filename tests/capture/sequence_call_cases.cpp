#include "sdk/capture/calls/sequence_calls.h"
#include "tests/capture/call_cases.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kSequenceRows = 5, kHidden = 6;

std::vector<CallCase> RecurrentCases() {
  return {
      CaseOf<LstmForwardCall>([](auto& c, CallDraw& d) {
        c.gates = d.Real({kSequenceRows, 4 * kHidden}),
        c.cell_before = d.Real({kSequenceRows, kHidden});
        c.cell = d.Out({kSequenceRows, kHidden}), c.hidden = d.Out({kSequenceRows, kHidden});
      }),
      CaseOf<LstmBackwardCall>([](auto& c, CallDraw& d) {
        c.dhidden = d.Real({kSequenceRows, kHidden}),
        c.gates = d.Positive({kSequenceRows, 4 * kHidden});
        c.cell_before = d.Real({kSequenceRows, kHidden}), c.cell = d.Real({kSequenceRows, kHidden});
        c.dcell = d.Real({kSequenceRows, kHidden}), c.dgates = c.gates;
      }),
      CaseOf<GruForwardCall>([](auto& c, CallDraw& d) {
        c.from_input = d.Real({kSequenceRows, 3 * kHidden}),
        c.from_hidden = d.Real({kSequenceRows, 3 * kHidden});
        c.hidden_before = d.Real({kSequenceRows, kHidden}),
        c.hidden = d.Out({kSequenceRows, kHidden});
      }),
      CaseOf<GruBackwardCall>([](auto& c, CallDraw& d) {
        c.dhidden = d.Real({kSequenceRows, kHidden}),
        c.from_input = d.Positive({kSequenceRows, 3 * kHidden});
        c.from_hidden = d.Positive({kSequenceRows, 3 * kHidden});
        c.hidden_before = d.Real({kSequenceRows, kHidden}),
        c.dhidden_before = d.Out({kSequenceRows, kHidden});
      }),
  };
}

}  // namespace

std::vector<CallCase> SequenceCallCases() {
  std::vector<CallCase> cases = {
      CaseOf<RotateCall>([](auto& c, CallDraw& d) {
        c.g = {.offset = 2, .heads = 2, .head_size = 6, .rotary_size = 4};
        c.cosine = d.Real({3, 2}), c.sine = d.Real({3, 2}), c.x = d.Real({2, 3, 16});
      }),
      CaseOf<SineCosineCall>([](auto& c, CallDraw& d) {
        c.angles = d.Real({5, 4}, 0, 6), c.y = d.Out({5, 8});
      }),
      CaseOf<SineCosineBackwardCall>([](auto& c, CallDraw& d) {
        c.dy = d.Real({5, 8}), c.y = d.Real({5, 8}), c.dangles = d.Out({5, 4});
      }),
      CaseOf<RotateByCall>([](auto& c, CallDraw& d) {
        c.x = d.Real({2, 3, 2, 6}), c.cosine = d.Real({3, 2, 3}), c.sine = d.Real({3, 2, 3});
        c.y = d.Out({2, 3, 2, 6});
      }),
      CaseOf<RotateByBackwardAnglesCall>([](auto& c, CallDraw& d) {
        c.dy = d.Real({2, 3, 2, 6}), c.x = d.Real({2, 3, 2, 6});
        c.dcosine = d.Out({3, 2, 3}), c.dsine = d.Out({3, 2, 3});
      }),
      CaseOf<GatedForwardCall>([](auto& c, CallDraw& d) {
        c.f = Activation::kSilu, c.x = d.Real({5, 12}), c.y = d.Out({5, 6});
      }),
      CaseOf<GatedBackwardCall>([](auto& c, CallDraw& d) {
        c.f = Activation::kSilu, c.dy = d.Real({5, 6}), c.x = d.Real({5, 12});
        c.dx = d.Out({5, 12});
      }),
      CaseOf<RmsForwardCall>([](auto& c, CallDraw& d) {
        c.x = d.Real({5, 12}), c.weight = d.Positive({12}), c.epsilon = 1e-6;
        c.y = d.Out({5, 12}), c.rstd = d.Out({5});
      }),
      CaseOf<RmsBackwardCall>([](auto& c, CallDraw& d) {
        c.dy = d.Real({5, 12}), c.x = d.Real({5, 12}), c.rstd = d.Real({5}, 1, 2);
        c.weight = d.Positive({12}), c.dx = d.Out({5, 12}), c.dweight = d.Out({12});
      }),
  };
  const std::vector<CallCase> more = RecurrentCases();
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace frugal::testing
