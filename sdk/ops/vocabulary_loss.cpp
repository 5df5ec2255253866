#include "sdk/ops/vocabulary_loss.h"

#include <algorithm>
#include <cmath>

#include "sdk/core/error.h"
#include "sdk/module/parameter_store.h"
#include "sdk/module/repeat.h"
#include "sdk/ops/scalar.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/product_launch.h"

namespace frugal {
namespace {

using Options = LossKernels::CrossEntropyOptions;

double CountTargets(const Tensor& targets, std::int64_t ignored) {
  const auto values = targets.values<std::int64_t>();
  return static_cast<double>(std::ranges::ssize(values) - std::ranges::count(values, ignored));
}

// One pass over all chunks.
class Chunks {
 public:
  Chunks(Context& context, const Var& x, const Parameter& weight, const Parameter* bias,
         const Tensor& targets, const VocabularyLossOptions& options)
      : context_(context),
        options_(options),
        rows_(x.value.Reshape({x.shape().RowCount(), x.shape().back()})),
        targets_(targets.Reshape({targets.size()})),
        bias_(ValuesOf(context, nullptr, bias).bias),
        weight_(context.parameters().WeightOf(weight, WeightLayout::kOutIn, x.dtype(),
                                              context.backend())),
        loss_(context.Allocate({1}, context.master_dtype())) {}

  // `dx` like x, or empty; gradients of weight and bias, or empty.
  VocabularyLoss Run(const Tensor& dx, const AffineTensors& gradients) {
    const std::int64_t rows = rows_.shape()[0];
    const std::int64_t wanted = options_.chunk_rows;
    const std::int64_t step =
        wanted > 0 ? wanted : ChunkRows(rows, weight_.outputs(), rows_.dtype());
    context_.Launch({OperationKind::kLoss, BytesOf(targets_)}, [&](Backend&, void*) {
      counted_ = CountTargets(targets_, options_.ignore_index);
    });
    // At least one, so that gradients of no rows are written too.
    const std::int64_t chunks = std::max<std::int64_t>(1, rows / step + (rows % step > 0 ? 1 : 0));
    Repeat(context_, chunks, [&](std::int64_t i) {
      const std::int64_t begin = i * step;
      const std::int64_t count = std::min(step, rows - begin);
      const Tensor logits = Project(begin, count);
      Compare(logits, begin, count);
      if (dx) LaunchLinearBackwardData(context_, logits, weight_, dx.Narrow(begin, count));
      if (gradients.weight || gradients.bias) {
        const bool accumulate = i > 0 || gradients.accumulate;
        LaunchLinearBackwardWeight(context_, logits, rows_.Narrow(begin, count),
                                   {gradients.weight, gradients.bias, accumulate});
      }
    });
    context_.Launch({OperationKind::kLoss, BytesOf(loss_)}, [&](Backend& backend, void*) {
      backend.elementwise().Fill(loss_, total_ / std::max(1.0, counted_));
    });
    return {{loss_, Var::kNoGradient}, correct_};
  }

  // Logits become gradients then; their rows may be padded for the products.
  void Differentiate() {
    differentiating_ = true;
    const bool pads = rows_.dtype() == DType::kBF16 && !bias_;
    if (pads) weight_.row_width = context_.backend().product().FastWidth(weight_);
  }

 private:
  Options KernelOptions() const {
    return {.label_smoothing = options_.label_smoothing,
            .ignore_index = options_.ignore_index,
            .classes = 0};
  }

  Tensor Project(std::int64_t begin, std::int64_t count) {
    const Tensor x = rows_.Narrow(begin, count);
    const Tensor logits =
        context_.Allocate({count, weight_.width()}, rows_.dtype(), MemoryTag::kWorkspace);
    LaunchLinearForward(context_, x, weight_, bias_, {}, logits);
    return logits;
  }

  // Adds the chunk's part of the loss and, where gradients are wanted, turns logits into theirs.
  void Compare(const Tensor& logits, std::int64_t begin, std::int64_t count) {
    const Tensor targets = targets_.Narrow(begin, count);
    if (differentiating_) {
      context_.Launch({OperationKind::kLoss, 2 * BytesOf(logits)}, [&](Backend& backend, void*) {
        const double factor = options_.seed / std::max(1.0, counted_);
        Options options = KernelOptions();
        options.classes = weight_.outputs();
        const auto sums = backend.loss().CrossEntropyInPlace(logits, targets, options, factor);
        total_ += sums.loss;
        correct_ += sums.correct;
      });
      return;
    }
    const Tensor log_sum_exp = context_.Allocate({count}, context_.master_dtype());
    context_.Launch({OperationKind::kLoss, BytesOf(logits)}, [&](Backend& backend, void*) {
      correct_ += backend.loss().CountCorrect(logits, targets);
      backend.loss().CrossEntropyForward(logits, targets, KernelOptions(), log_sum_exp, loss_);
      total_ += ScalarIn(loss_) * CountTargets(targets, options_.ignore_index);
    });
  }

  Context& context_;
  VocabularyLossOptions options_;
  Tensor rows_;     // [M, D]
  Tensor targets_;  // [M]
  Tensor bias_;
  LinearWeight weight_;
  Tensor loss_;         // [1]
  double counted_ = 0;  // targets that count, in all chunks
  double total_ = 0;    // loss of those so far
  std::int64_t correct_ = 0;
  bool differentiating_ = false;
};

void CheckShapes(Context& context, const Var& x, const Parameter& weight, const Tensor& targets) {
  if (x.shape().rank() < 1 || x.shape().back() != weight.shape[1]) {
    ThrowShape(context, "the projection takes " + std::to_string(weight.shape[1]) + " features",
               x.shape(), "let the network end in that many features");
  }
  if (x.shape().RowCount() == targets.size() && targets.dtype() == DType::kI64) return;
  ThrowShape(context,
             "there is a class number (i64) for each of the " + std::to_string(targets.size()) +
                 " targets",
             x.shape(), "give one label per position");
}

// A weight that is frozen beside a trained bias still needs a place for its gradient.
AffineTensors WithPlaceForWeight(Context& context, const Parameter& weight, AffineTensors places) {
  if (places.bias && !places.weight) {
    places.weight = context.Allocate(weight.shape, context.master_dtype(), MemoryTag::kWorkspace);
  }
  return places;
}

}  // namespace

std::int64_t ChunkRows(std::int64_t rows, std::int64_t vocabulary, DType dtype) {
  constexpr std::int64_t kChunkElements = std::int64_t{8} << 20;
  // Fewer read and write the weight's gradient, which is f32, more often than they save of logits.
  const std::int64_t least = dtype == DType::kBF16 ? 512 : 256;
  const std::int64_t by_elements = std::max(least, kChunkElements / vocabulary);
  const std::int64_t quarter = std::max(least, (rows + 3) / 4);
  return std::clamp<std::int64_t>(rows, 1, std::min(by_elements, quarter));
}

VocabularyLoss LinearCrossEntropy(Context& context, const Var& x, const Parameter& weight,
                                  const Parameter* bias, const Tensor& targets,
                                  const VocabularyLossOptions& options) {
  CheckShapes(context, x, weight, targets);
  Chunks chunks(context, x, weight, bias, targets, options);
  const bool differentiable = IsDifferentiable(x, &weight, bias);
  if (context.tape() == nullptr || !differentiable) {
    VocabularyLoss result = chunks.Run({}, {});
    result.loss = context.Record(result.loss.value, differentiable, {});
    return result;
  }
  chunks.Differentiate();
  const Tensor dx = x.needs_gradient() ? context.Allocate(x.shape(), x.dtype()) : Tensor();
  const AffineTensors gradients =
      WithPlaceForWeight(context, weight, GradientsOf(context, &weight, bias));
  const Tensor flat = dx ? dx.Reshape({x.shape().RowCount(), x.shape().back()}) : Tensor();
  VocabularyLoss result = chunks.Run(flat, gradients);
  result.loss = context.Record(
      result.loss.value, true,
      [dx, slot = x.slot, seed = options.seed](Context& ctx, Tensor dloss) {
        ctx.Launch({OperationKind::kData, BytesOf(dloss)}, [&](Backend&, void*) {
          const double given = ScalarIn(dloss);
          if (std::abs(given - seed) <= 1e-6 * std::abs(seed)) return;
          throw UsageError({.where = "LinearCrossEntropy",
                            .required = "backward is seeded with " + std::to_string(seed),
                            .given = std::to_string(given),
                            .advice = "say the seed in VocabularyLossOptions::seed"});
        });
        if (dx) ctx.Accumulate(slot, dx);
      });
  return result;
}

}  // namespace frugal
