#include "sdk/capture/calls/adaptive_calls.h"
#include "sdk/capture/calls/optimizer_calls.h"
#include "tests/capture/call_cases.h"

namespace frugal::testing {
namespace {

const Shape kUpdateX = {7, 11};

template <class T>
void FillMoments(T& c, CallDraw& d) {
  c.arguments.learning_rate = 0.1, c.gradient = d.Real(kUpdateX), c.first_moment = d.Real(kUpdateX);
  c.parameter = d.Real(kUpdateX);
}

}  // namespace

std::vector<CallCase> UpdateCallCases() {
  return {
      CaseOf<SgdCall>([](auto& c, CallDraw& d) {
        c.arguments.learning_rate = 0.1, c.arguments.momentum = 0.9;
        c.gradient = d.Real(kUpdateX), c.momentum_buffer = d.Real(kUpdateX),
        c.parameter = d.Real(kUpdateX);
      }),
      CaseOf<AdamCall>([](auto& c, CallDraw& d) {
        FillMoments(c, d), c.second_moment = d.Positive(kUpdateX), c.arguments.step = 3;
      }),
      CaseOf<SumOfSquaresCall>([](auto& c, CallDraw& d) { c.x = d.Real(kUpdateX); }),
      CaseOf<RmsPropCall>([](auto& c, CallDraw& d) {
        c.arguments.learning_rate = 0.1, c.gradient = d.Real(kUpdateX);
        c.square_average = d.Positive(kUpdateX), c.parameter = d.Real(kUpdateX);
      }),
      CaseOf<AdagradCall>([](auto& c, CallDraw& d) {
        c.arguments.learning_rate = 0.1, c.gradient = d.Real(kUpdateX),
        c.square_sum = d.Positive(kUpdateX);
        c.parameter = d.Real(kUpdateX);
      }),
      CaseOf<AdadeltaCall>([](auto& c, CallDraw& d) {
        c.arguments.learning_rate = 1, c.gradient = d.Real(kUpdateX);
        c.square_average = d.Positive(kUpdateX), c.delta_average = d.Positive(kUpdateX);
        c.parameter = d.Real(kUpdateX);
      }),
      CaseOf<NAdamCall>([](auto& c, CallDraw& d) {
        FillMoments(c, d), c.second_moment = d.Positive(kUpdateX), c.arguments.step = 3;
      }),
      CaseOf<RAdamCall>([](auto& c, CallDraw& d) {
        FillMoments(c, d), c.second_moment = d.Positive(kUpdateX), c.arguments.step = 30;
      }),
      CaseOf<AdamaxCall>(
          [](auto& c, CallDraw& d) { FillMoments(c, d), c.infinity_norm = d.Positive(kUpdateX); }),
  };
}

}  // namespace frugal::testing
