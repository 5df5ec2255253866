#include "sdk/train/loss.h"

#include <array>

#include "sdk/core/error.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/losses/ctc_loss.h"
#include "sdk/ops/losses/row_losses.h"
#include "sdk/ops/losses/weighted_cross_entropy.h"

namespace frugal {

std::string_view NameOf(LossKind kind) {
  constexpr auto names = std::to_array<std::string_view>(
      {"cross_entropy", "mse", "l1", "huber", "bce_with_logits", "focal", "hinge", "kl_divergence",
       "cosine", "triplet", "ctc"});
  static_assert(names.size() == kLossKindCount);
  return names[static_cast<std::size_t>(kind)];
}

LossTargets TargetsOf(LossKind kind) {
  switch (kind) {
    case LossKind::kCrossEntropy:
    case LossKind::kFocal:
    case LossKind::kHinge:
    case LossKind::kCtc:
      return LossTargets::kLabels;
    case LossKind::kTriplet:
      return LossTargets::kNothing;
    default:
      return LossTargets::kValues;
  }
}

bool TakesLabels(LossKind kind) { return TargetsOf(kind) == LossTargets::kLabels; }

bool VotesForLabels(const LossOptions& options) {
  return options.function || (TakesLabels(options.kind) && options.kind != LossKind::kCtc);
}

bool CountsSamplesAlike(const LossOptions& options) {
  const bool leaves_out = options.ignore_index != LossOptions().ignore_index;
  if (options.function) return !leaves_out;
  if (options.kind == LossKind::kCtc) return true;  // it pads what every sample has of its own
  return !leaves_out && options.class_weights.empty();
}

bool IsPlainCrossEntropy(const LossOptions& options) {
  return !options.function && options.kind == LossKind::kCrossEntropy &&
         options.class_weights.empty();
}

std::string NameOf(const LossOptions& options) {
  if (!options.name.empty()) return options.name;
  return options.function ? "own" : std::string(NameOf(options.kind));
}

namespace {

void RefuseWeights(const Tensor& sample_weights) {
  if (!sample_weights) return;
  throw UsageError({.where = "loss",
                    .required = "a loss of the program's own takes outputs and targets",
                    .given = "the data have sample weights, which it would not see",
                    .advice = "use a loss by name, or leave DataLayout::sample_weights at false "
                              "and put the weights into the targets"});
}

Var OwnLoss(Context& context, const LossFunction& function, const Var& output,
            const Tensor& targets) {
  Var loss = function(context, output, targets);
  if (loss.value && loss.value.size() == 1 && loss.dtype() == context.master_dtype()) return loss;
  throw UsageError(
      {.where = "loss",
       .required = "a loss is a scalar [1] of type " + std::string(NameOf(context.master_dtype())),
       .given = loss.value ? "the program's function made " + ToString(loss.shape()) + " of type " +
                                 std::string(NameOf(loss.dtype()))
                           : "the program's function made nothing",
       .advice = "end it in a mean over all axes, e.g. of CastToF32(...)"});
}

Regression RegressionOf(LossKind kind) {
  switch (kind) {
    case LossKind::kL1:
      return Regression::kL1;
    case LossKind::kHuber:
      return Regression::kHuber;
    case LossKind::kBceWithLogits:
      return Regression::kBceWithLogits;
    default:
      return Regression::kMse;
  }
}

Var LossByValues(Context& context, const LossOptions& options, const Var& output,
                 const Tensor& targets, const Tensor& weights) {
  const Regression kind = RegressionOf(options.kind);
  return weights ? WeightedRegressionLoss(context, output, targets, kind, options.delta, weights)
                 : RegressionLoss(context, output, targets, kind, options.delta);
}

Var LossByLabels(Context& context, const LossOptions& options, const Var& output,
                 const Tensor& targets, const Tensor& weights) {
  if (IsPlainCrossEntropy(options) && !weights) {
    return CrossEntropy(context, output, targets, {options.label_smoothing, options.ignore_index});
  }
  const bool focal = options.kind == LossKind::kFocal;
  Var loss = CrossEntropyOf(context, output, targets,
                            {.label_smoothing = options.label_smoothing,
                             .ignore_index = options.ignore_index,
                             .focusing = focal ? options.gamma : 0,
                             .class_weights = options.class_weights,
                             .sample_weights = weights});
  return focal && options.alpha != 1 ? Scale(context, loss, options.alpha) : loss;
}

}  // namespace

Var ComputeLoss(Context& context, const LossOptions& options, const Var& output,
                const Tensor& targets, const Tensor& sample_weights) {
  const LabelScope label(context, "loss");
  if (options.function) {
    RefuseWeights(sample_weights);
    return OwnLoss(context, options.function, output, targets);
  }
  switch (options.kind) {
    case LossKind::kCrossEntropy:
    case LossKind::kFocal:
      return LossByLabels(context, options, output, targets, sample_weights);
    case LossKind::kHinge:
      return HingeLoss(context, output, targets, options.margin, sample_weights);
    case LossKind::kKlDivergence:
      return KlDivergence(context, output, targets, sample_weights);
    case LossKind::kCosine:
      return CosineLoss(context, output, targets, sample_weights);
    case LossKind::kTriplet:
      return TripletLoss(context, output, options.margin, sample_weights);
    case LossKind::kCtc:
      return CtcLoss(context, output, targets,
                     {.blank = options.blank,
                      .padding = options.ignore_index,
                      .zero_infinity = options.zero_infinity,
                      .sample_weights = sample_weights});
    default:
      return LossByValues(context, options, output, targets, sample_weights);
  }
}

}  // namespace frugal
