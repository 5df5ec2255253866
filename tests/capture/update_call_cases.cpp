#include "sdk/capture/calls/adaptive_calls.h"
#include "sdk/capture/calls/optimizer_calls.h"
#include "tests/capture/call_cases.h"

namespace frugal::testing {
namespace {

const Shape kX = {7, 11};

template <class T>
void FillMoments(T& c, CallDraw& d) {
  c.arguments.learning_rate = 0.1, c.gradient = d.Real(kX), c.first_moment = d.Real(kX);
  c.parameter = d.Real(kX);
}

}  // namespace

std::vector<CallCase> UpdateCallCases() {
  return {
      CaseOf<SgdCall>([](auto& c, CallDraw& d) {
        c.arguments.learning_rate = 0.1, c.arguments.momentum = 0.9;
        c.gradient = d.Real(kX), c.momentum_buffer = d.Real(kX), c.parameter = d.Real(kX);
      }),
      CaseOf<AdamCall>([](auto& c, CallDraw& d) {
        FillMoments(c, d), c.second_moment = d.Positive(kX), c.arguments.step = 3;
      }),
      CaseOf<SumOfSquaresCall>([](auto& c, CallDraw& d) { c.x = d.Real(kX); }),
      CaseOf<RmsPropCall>([](auto& c, CallDraw& d) {
        c.arguments.learning_rate = 0.1, c.gradient = d.Real(kX);
        c.square_average = d.Positive(kX), c.parameter = d.Real(kX);
      }),
      CaseOf<AdagradCall>([](auto& c, CallDraw& d) {
        c.arguments.learning_rate = 0.1, c.gradient = d.Real(kX), c.square_sum = d.Positive(kX);
        c.parameter = d.Real(kX);
      }),
      CaseOf<AdadeltaCall>([](auto& c, CallDraw& d) {
        c.arguments.learning_rate = 1, c.gradient = d.Real(kX);
        c.square_average = d.Positive(kX), c.delta_average = d.Positive(kX);
        c.parameter = d.Real(kX);
      }),
      CaseOf<NAdamCall>([](auto& c, CallDraw& d) {
        FillMoments(c, d), c.second_moment = d.Positive(kX), c.arguments.step = 3;
      }),
      CaseOf<RAdamCall>([](auto& c, CallDraw& d) {
        FillMoments(c, d), c.second_moment = d.Positive(kX), c.arguments.step = 30;
      }),
      CaseOf<AdamaxCall>(
          [](auto& c, CallDraw& d) { FillMoments(c, d), c.infinity_norm = d.Positive(kX); }),
  };
}

}  // namespace frugal::testing
