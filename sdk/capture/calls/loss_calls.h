#pragma once

#include "sdk/backend/backend.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/calls/call_fields.h"

// Calls of LossKernels (sdk/backend/loss_kernels.h), whose tensors and numbers they name.
namespace frugal {

struct SoftmaxForwardCall final : Call {
  static constexpr std::string_view kName = "softmax_forward";
  Tensor x;
  bool logarithm = false;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("logarithm", logarithm);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override { backend.loss().SoftmaxForward(x, logarithm, y); }
};

struct SoftmaxBackwardCall final : Call {
  static constexpr std::string_view kName = "softmax_backward";
  Tensor dy;
  Tensor y;
  bool logarithm = false;
  Tensor dx;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("logarithm", logarithm);
    visitor.Input("dy", dy);
    visitor.Input("y", y);
    visitor.Output("dx", dx);
  }
  void Run(Backend& backend, void*) override {
    backend.loss().SoftmaxBackward(dy, y, logarithm, dx);
  }
};

struct CrossEntropyForwardCall final : Call {
  static constexpr std::string_view kName = "cross_entropy_forward";
  Tensor logits;
  Tensor targets;
  LossKernels::CrossEntropyOptions options;
  Tensor log_sum_exp;
  Tensor loss;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, options);
    visitor.Input("logits", logits);
    visitor.Input("targets", targets);
    visitor.Output("log_sum_exp", log_sum_exp);
    visitor.Output("loss", loss);
  }
  void Run(Backend& backend, void*) override {
    backend.loss().CrossEntropyForward(logits, targets, options, log_sum_exp, loss);
  }
};

struct CrossEntropyBackwardCall final : Call {
  static constexpr std::string_view kName = "cross_entropy_backward";
  Tensor dloss;
  Tensor logits;
  Tensor targets;
  LossKernels::CrossEntropyOptions options;
  Tensor log_sum_exp;
  Tensor dlogits;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, options);
    visitor.Input("dloss", dloss);
    visitor.Input("logits", logits);
    visitor.Input("targets", targets);
    visitor.Input("log_sum_exp", log_sum_exp);
    visitor.Output("dlogits", dlogits);
  }
  void Run(Backend& backend, void*) override {
    backend.loss().CrossEntropyBackward(dloss, logits, targets, options, log_sum_exp, dlogits);
  }
};

struct CrossEntropyInPlaceCall final : Call {
  static constexpr std::string_view kName = "cross_entropy_in_place";
  Tensor logits;
  Tensor targets;
  LossKernels::CrossEntropyOptions options;
  double factor = 0;
  LossKernels::CrossEntropySums sums{};

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("targets", targets);
    VisitFields(visitor, options);
    visitor.Attribute("factor", factor);
    visitor.Updated("logits", logits);
    visitor.Result("loss", sums.loss);
    visitor.Result("correct", sums.correct);
  }
  void Run(Backend& backend, void*) override {
    sums = backend.loss().CrossEntropyInPlace(logits, targets, options, factor);
  }
};

struct WeightedCrossEntropyForwardCall final : Call {
  static constexpr std::string_view kName = "weighted_cross_entropy_forward";
  Tensor logits;
  Tensor targets;
  LossKernels::WeightedCrossEntropyOptions options;
  Tensor log_sum_exp;
  Tensor loss;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, options);
    visitor.Input("logits", logits);
    visitor.Input("targets", targets);
    visitor.Output("log_sum_exp", log_sum_exp);
    visitor.Output("loss", loss);
  }
  void Run(Backend& backend, void*) override {
    backend.loss().WeightedCrossEntropyForward(logits, targets, options, log_sum_exp, loss);
  }
};

struct WeightedCrossEntropyBackwardCall final : Call {
  static constexpr std::string_view kName = "weighted_cross_entropy_backward";
  Tensor dloss;
  Tensor logits;
  Tensor targets;
  LossKernels::WeightedCrossEntropyOptions options;
  Tensor log_sum_exp;
  Tensor dlogits;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, options);
    visitor.Input("dloss", dloss);
    visitor.Input("logits", logits);
    visitor.Input("targets", targets);
    visitor.Input("log_sum_exp", log_sum_exp);
    visitor.Output("dlogits", dlogits);
  }
  void Run(Backend& backend, void*) override {
    backend.loss().WeightedCrossEntropyBackward(dloss, logits, targets, options, log_sum_exp,
                                                dlogits);
  }
};

struct RowLossForwardCall final : Call {
  static constexpr std::string_view kName = "row_loss_forward";
  RowLoss row_loss;
  Tensor x;
  Tensor targets;
  Tensor loss;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, row_loss);
    visitor.Input("x", x);
    visitor.Input("targets", targets);
    visitor.Output("loss", loss);
  }
  NullExcuses excuses() const override {
    const bool is_distance = row_loss.kind == RowLossKind::kRegression &&
                             row_loss.regression != Regression::kBceWithLogits;
    if (!is_distance && row_loss.kind != RowLossKind::kCosine) return {};
    return {.either = "x", .other = "targets"};
  }
  void Run(Backend& backend, void*) override {
    backend.loss().RowLossForward(row_loss, x, targets, loss);
  }
};

struct RowLossBackwardCall final : Call {
  static constexpr std::string_view kName = "row_loss_backward";
  RowLoss row_loss;
  Tensor dloss;
  Tensor x;
  Tensor targets;
  Tensor dx;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, row_loss);
    visitor.Input("dloss", dloss);
    visitor.Input("x", x);
    visitor.Input("targets", targets);
    visitor.Output("dx", dx);
  }
  void Run(Backend& backend, void*) override {
    backend.loss().RowLossBackward(row_loss, dloss, x, targets, dx);
  }
};

struct CtcForwardCall final : Call {
  static constexpr std::string_view kName = "ctc_forward";
  Tensor logits;
  Tensor labels;
  CtcOptions options;
  Tensor loss;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, options);
    visitor.Input("logits", logits);
    visitor.Input("labels", labels);
    visitor.Output("loss", loss);
  }
  std::int64_t Scratch(Backend&) const override {
    return LossKernels::CtcScratchBytes(logits.shape(), labels.shape(), false);
  }
  void Run(Backend& backend, void* scratch) override {
    backend.loss().CtcForward(logits, labels, options, scratch, loss);
  }
};

struct CtcBackwardCall final : Call {
  static constexpr std::string_view kName = "ctc_backward";
  Tensor dloss;
  Tensor logits;
  Tensor labels;
  CtcOptions options;
  Tensor dlogits;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, options);
    visitor.Input("dloss", dloss);
    visitor.Input("logits", logits);
    visitor.Input("labels", labels);
    visitor.Output("dlogits", dlogits);
  }
  std::int64_t Scratch(Backend&) const override {
    return LossKernels::CtcScratchBytes(logits.shape(), labels.shape(), true);
  }
  void Run(Backend& backend, void* scratch) override {
    backend.loss().CtcBackward(dloss, logits, labels, options, scratch, dlogits);
  }
};

struct RegressionForwardCall final : Call {
  static constexpr std::string_view kName = "regression_forward";
  Regression kind = Regression::kMse;
  double delta = 0;
  Tensor x;
  Tensor target;
  Tensor loss;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("kind", kind);
    visitor.Attribute("delta", delta);
    visitor.Input("x", x);
    visitor.Input("target", target);
    visitor.Output("loss", loss);
  }
  NullExcuses excuses() const override {
    if (kind == Regression::kBceWithLogits) return {};
    return {.either = "x", .other = "target"};
  }
  void Run(Backend& backend, void*) override {
    backend.loss().RegressionForward(kind, delta, x, target, loss);
  }
};

struct RegressionBackwardCall final : Call {
  static constexpr std::string_view kName = "regression_backward";
  Regression kind = Regression::kMse;
  double delta = 0;
  Tensor dloss;
  Tensor x;
  Tensor target;
  Tensor dx;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("kind", kind);
    visitor.Attribute("delta", delta);
    visitor.Input("dloss", dloss);
    visitor.Input("x", x);
    visitor.Input("target", target);
    visitor.Output("dx", dx);
  }
  void Run(Backend& backend, void*) override {
    backend.loss().RegressionBackward(kind, delta, dloss, x, target, dx);
  }
};

struct RegressionTargetBackwardCall final : Call {
  static constexpr std::string_view kName = "regression_target_backward";
  Regression kind = Regression::kMse;
  double delta = 0;
  Tensor dloss;
  Tensor x;
  Tensor target;
  Tensor dtarget;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("kind", kind);
    visitor.Attribute("delta", delta);
    visitor.Input("dloss", dloss);
    visitor.Input("x", x);
    visitor.Input("target", target);
    visitor.Output("dtarget", dtarget);
  }
  void Run(Backend& backend, void*) override {
    backend.loss().RegressionTargetBackward(kind, delta, dloss, x, target, dtarget);
  }
};

struct CountCorrectCall final : Call {
  static constexpr std::string_view kName = "count_correct";
  Tensor x;
  Tensor targets;
  std::int64_t correct{};

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("x", x);
    visitor.Input("targets", targets);
    visitor.Result("correct", correct);
  }
  void Run(Backend& backend, void*) override { correct = backend.loss().CountCorrect(x, targets); }
};

}  // namespace frugal
