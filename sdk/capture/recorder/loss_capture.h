#pragma once

#include "sdk/capture/calls/loss_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingLossKernels final : public DecoratedKernels<LossKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  void SoftmaxForward(const Tensor& x, bool logarithm, const Tensor& y) override {
    SoftmaxForwardCall call;
    call.x = x;
    call.logarithm = logarithm;
    call.y = y;
    Record(call, nullptr);
  }
  void SoftmaxBackward(const Tensor& dy, const Tensor& y, bool logarithm,
                       const Tensor& dx) override {
    SoftmaxBackwardCall call;
    call.dy = dy;
    call.y = y;
    call.logarithm = logarithm;
    call.dx = dx;
    Record(call, nullptr);
  }
  void CrossEntropyForward(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options,
                           const Tensor& log_sum_exp, const Tensor& loss) override {
    CrossEntropyForwardCall call;
    call.logits = logits;
    call.targets = targets;
    call.options = options;
    call.log_sum_exp = log_sum_exp;
    call.loss = loss;
    Record(call, nullptr);
  }
  void CrossEntropyBackward(const Tensor& dloss, const Tensor& logits, const Tensor& targets,
                            CrossEntropyOptions options, const Tensor& log_sum_exp,
                            const Tensor& dlogits) override {
    CrossEntropyBackwardCall call;
    call.dloss = dloss;
    call.logits = logits;
    call.targets = targets;
    call.options = options;
    call.log_sum_exp = log_sum_exp;
    call.dlogits = dlogits;
    Record(call, nullptr);
  }
  CrossEntropySums CrossEntropyInPlace(const Tensor& logits, const Tensor& targets,
                                       CrossEntropyOptions options, double factor) override {
    CrossEntropyInPlaceCall call;
    call.logits = logits;
    call.targets = targets;
    call.options = options;
    call.factor = factor;
    Record(call, nullptr);
    return call.sums;
  }
  void WeightedCrossEntropyForward(const Tensor& logits, const Tensor& targets,
                                   const WeightedCrossEntropyOptions& options,
                                   const Tensor& log_sum_exp, const Tensor& loss) override {
    WeightedCrossEntropyForwardCall call;
    call.logits = logits;
    call.targets = targets;
    call.options = options;
    call.log_sum_exp = log_sum_exp;
    call.loss = loss;
    Record(call, nullptr);
  }
  void WeightedCrossEntropyBackward(const Tensor& dloss, const Tensor& logits,
                                    const Tensor& targets,
                                    const WeightedCrossEntropyOptions& options,
                                    const Tensor& log_sum_exp, const Tensor& dlogits) override {
    WeightedCrossEntropyBackwardCall call;
    call.dloss = dloss;
    call.logits = logits;
    call.targets = targets;
    call.options = options;
    call.log_sum_exp = log_sum_exp;
    call.dlogits = dlogits;
    Record(call, nullptr);
  }
  void RowLossForward(const RowLoss& row_loss, const Tensor& x, const Tensor& targets,
                      const Tensor& loss) override {
    RowLossForwardCall call;
    call.row_loss = row_loss;
    call.x = x;
    call.targets = targets;
    call.loss = loss;
    Record(call, nullptr);
  }
  void RowLossBackward(const RowLoss& row_loss, const Tensor& dloss, const Tensor& x,
                       const Tensor& targets, const Tensor& dx) override {
    RowLossBackwardCall call;
    call.row_loss = row_loss;
    call.dloss = dloss;
    call.x = x;
    call.targets = targets;
    call.dx = dx;
    Record(call, nullptr);
  }
  void CtcForward(const Tensor& logits, const Tensor& labels, const CtcOptions& options,
                  void* scratch, const Tensor& loss) override {
    CtcForwardCall call;
    call.logits = logits;
    call.labels = labels;
    call.options = options;
    call.loss = loss;
    Record(call, scratch);
  }
  void CtcBackward(const Tensor& dloss, const Tensor& logits, const Tensor& labels,
                   const CtcOptions& options, void* scratch, const Tensor& dlogits) override {
    CtcBackwardCall call;
    call.dloss = dloss;
    call.logits = logits;
    call.labels = labels;
    call.options = options;
    call.dlogits = dlogits;
    Record(call, scratch);
  }
  void RegressionForward(Regression kind, double delta, const Tensor& x, const Tensor& target,
                         const Tensor& loss) override {
    RegressionForwardCall call;
    call.kind = kind;
    call.delta = delta;
    call.x = x;
    call.target = target;
    call.loss = loss;
    Record(call, nullptr);
  }
  void RegressionBackward(Regression kind, double delta, const Tensor& dloss, const Tensor& x,
                          const Tensor& target, const Tensor& dx) override {
    RegressionBackwardCall call;
    call.kind = kind;
    call.delta = delta;
    call.dloss = dloss;
    call.x = x;
    call.target = target;
    call.dx = dx;
    Record(call, nullptr);
  }
  void RegressionTargetBackward(Regression kind, double delta, const Tensor& dloss, const Tensor& x,
                                const Tensor& target, const Tensor& dtarget) override {
    RegressionTargetBackwardCall call;
    call.kind = kind;
    call.delta = delta;
    call.dloss = dloss;
    call.x = x;
    call.target = target;
    call.dtarget = dtarget;
    Record(call, nullptr);
  }
  std::int64_t CountCorrect(const Tensor& x, const Tensor& targets) override {
    CountCorrectCall call;
    call.x = x;
    call.targets = targets;
    Record(call, nullptr);
    return call.correct;
  }
};

}  // namespace frugal
