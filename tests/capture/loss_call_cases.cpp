#include "sdk/capture/calls/loss_calls.h"
#include "tests/capture/call_cases.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kRows = 6, kClasses = 9;
const Shape kX = {kRows, kClasses};

std::vector<CallCase> EntropyCases() {
  return {
      CaseOf<CrossEntropyForwardCall>([](auto& c, CallDraw& d) {
        c.logits = d.Real(kX), c.targets = d.Labels({kRows}, kClasses);
        c.options.label_smoothing = 0.1, c.log_sum_exp = d.Out({kRows}), c.loss = d.Out({1});
      }),
      CaseOf<CrossEntropyBackwardCall>([](auto& c, CallDraw& d) {
        c.dloss = d.Positive({1}), c.logits = d.Real(kX), c.targets = d.Labels({kRows}, kClasses);
        c.log_sum_exp = d.Real({kRows}, 2.1, 2.4), c.dlogits = c.logits;
      }),
      CaseOf<CrossEntropyInPlaceCall>([](auto& c, CallDraw& d) {
        c.logits = d.Real(kX), c.targets = d.Labels({kRows}, kClasses), c.factor = 0.2;
      }),
      CaseOf<WeightedCrossEntropyForwardCall>([](auto& c, CallDraw& d) {
        c.logits = d.Real(kX), c.targets = d.Labels({kRows}, kClasses);
        c.options.focusing = 2, c.options.class_weights = d.Positive({kClasses});
        c.options.sample_weights = d.Positive({kRows});
        c.log_sum_exp = d.Out({kRows}), c.loss = d.Out({1});
      }),
      CaseOf<WeightedCrossEntropyBackwardCall>([](auto& c, CallDraw& d) {
        c.dloss = d.Positive({1}), c.logits = d.Real(kX), c.targets = d.Labels({kRows}, kClasses);
        c.options.class_weights = d.Positive({kClasses});
        c.log_sum_exp = d.Real({kRows}, 2.1, 2.4), c.dlogits = d.Out(kX);
      }),
      CaseOf<CountCorrectCall>([](auto& c, CallDraw& d) {
        c.x = d.Real(kX);
        std::vector<std::int64_t> targets(kRows, 3);
        for (std::int64_t row = 0; row < kRows; ++row) {
          float* logits = c.x.template data<float>() + row * kClasses;
          logits[row == 1 ? 2 : 3] = 5;
        }
        c.targets = MakeTensor({kRows}, targets, DType::kI64);
      }),
  };
}

std::vector<CallCase> RegressionCases() {
  return {
      CaseOf<RowLossForwardCall>([](auto& c, CallDraw& d) {
        c.row_loss.kind = RowLossKind::kHinge, c.row_loss.divisor = 3;
        c.row_loss.sample_weights = d.Positive({kRows}), c.x = d.Real(kX);
        c.targets = d.Labels({kRows}, kClasses), c.loss = d.Out({1});
      }),
      CaseOf<RowLossBackwardCall>([](auto& c, CallDraw& d) {
        c.row_loss.kind = RowLossKind::kTriplet, c.dloss = d.Positive({1}), c.x = d.Real(kX);
        c.row_loss.margin = 3, c.dx = d.Out(kX);
      }),
      CaseOf<RegressionForwardCall>([](auto& c, CallDraw& d) {
        c.x = d.Real(kX), c.target = d.Real(kX), c.loss = d.Out({1});
      }),
      CaseOf<RegressionBackwardCall>([](auto& c, CallDraw& d) {
        c.dloss = d.Positive({1}), c.x = d.Real(kX), c.target = d.Real(kX), c.dx = d.Out(kX);
      }),
      CaseOf<RegressionTargetBackwardCall>([](auto& c, CallDraw& d) {
        c.dloss = d.Positive({1}), c.x = d.Real(kX), c.target = d.Real(kX);
        c.dtarget = d.Out(kX);
      }),
      CaseOf<CtcForwardCall>([](auto& c, CallDraw& d) {
        c.logits = d.Real({2, 8, 5}), c.loss = d.Out({1});
        c.labels = MakeTensor({2, 3}, std::vector<std::int64_t>{1, 2, 3, 4, 4, -100}, DType::kI64);
      }),
      CaseOf<CtcBackwardCall>([](auto& c, CallDraw& d) {
        c.dloss = d.Positive({1}), c.logits = d.Real({2, 8, 5}), c.dlogits = d.Out({2, 8, 5});
        c.labels = MakeTensor({2, 3}, std::vector<std::int64_t>{1, 2, 3, 4, 4, -100}, DType::kI64);
      }),
  };
}

}  // namespace

std::vector<CallCase> LossCallCases() {
  std::vector<CallCase> cases = {
      CaseOf<SoftmaxForwardCall>([](auto& c, CallDraw& d) { c.x = d.Real(kX), c.y = c.x; }),
      CaseOf<SoftmaxBackwardCall>([](auto& c, CallDraw& d) {
        c.dy = d.Real(kX), c.y = d.Real(kX, -3, -1), c.logarithm = true, c.dx = d.Out(kX);
      }),
  };
  for (const auto& more : {EntropyCases(), RegressionCases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

}  // namespace frugal::testing
