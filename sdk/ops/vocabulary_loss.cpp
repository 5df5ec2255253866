#include "sdk/ops/vocabulary_loss.h"

#include <algorithm>
#include <cmath>

#include "sdk/core/error.h"
#include "sdk/module/parameter_store.h"
#include "sdk/ops/affine_parameters.h"
#include "sdk/ops/check.h"
#include "sdk/ops/scalar.h"

namespace frugal {
namespace {

using Options = LossKernels::CrossEntropyOptions;

std::int64_t CountTargets(const Tensor& targets, std::int64_t ignored) {
  const auto values = targets.values<std::int64_t>();
  return static_cast<std::int64_t>(values.size()) - std::ranges::count(values, ignored);
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
                                              context.planning_backend())),
        loss_(context.Allocate({1}, context.exact_dtype())),
        chunk_loss_(context.Allocate({1}, context.exact_dtype())),
        chunk_seed_(context.Allocate({1}, context.exact_dtype())) {}

  // `dx` like x, or empty; gradients of weight and bias, or empty.
  VocabularyLoss Run(const Tensor& dx, const AffineTensors& gradients) {
    const std::int64_t rows = rows_.shape()[0];
    const std::int64_t wanted = options_.chunk_rows;
    const std::int64_t step = wanted > 0 ? wanted : ChunkRows(rows, weight_.outputs());
    context_.Launch({OperationKind::kLoss, BytesOf(targets_)}, [&](Backend& backend, void*) {
      backend.elementwise().Fill(loss_, 0);
      counted_ = CountTargets(targets_, options_.ignore_index);
    });
    bool accumulate = gradients.accumulate;
    // At least one, so that gradients of no rows are written too.
    for (std::int64_t begin = 0; begin == 0 || begin < rows; begin += step) {
      const std::int64_t count = std::min(step, rows - begin);
      const Tensor logits = Project(begin, count);
      Compare(logits, begin, count);
      if (dx) InputGradient(logits, dx.Narrow(begin, count));
      if (gradients.weight || gradients.bias) {
        WeightGradient(logits, begin, count, gradients, accumulate);
      }
      accumulate = true;
    }
    return {{loss_, Var::kNoGradient}, correct_};
  }

  void set_differentiating(bool on) { differentiating_ = on; }

 private:
  Options KernelOptions() const { return {options_.label_smoothing, options_.ignore_index}; }
  ProductKernels& planned() { return context_.planning_backend().product(); }
  double Flops(std::int64_t count) const {
    return 2.0 * static_cast<double>(count) * static_cast<double>(weight_.tensor.size());
  }

  Tensor Project(std::int64_t begin, std::int64_t count) {
    const Tensor x = rows_.Narrow(begin, count);
    const Tensor logits =
        context_.Allocate({count, weight_.outputs()}, rows_.dtype(), MemoryTag::kWorkspace);
    context_.Launch({.kind = OperationKind::kProduct,
                     .bytes = BytesOf(x, weight_.Read(), bias_, logits),
                     .flops = Flops(count),
                     .scratch_bytes = planned().LinearForwardScratch(x, weight_)},
                    [&](Backend& backend, void* scratch) {
                      backend.product().LinearForward(x, weight_, bias_, {}, logits, {}, scratch);
                    });
    return logits;
  }

  // Adds the chunk's share of the loss and, where gradients are wanted, turns logits into theirs.
  void Compare(const Tensor& logits, std::int64_t begin, std::int64_t count) {
    const Tensor targets = targets_.Narrow(begin, count);
    const Tensor log_sum_exp = context_.Allocate({count}, context_.exact_dtype());
    context_.Launch(
        {OperationKind::kLoss, (differentiating_ ? 2 : 1) * BytesOf(logits)},
        [&](Backend& backend, void*) {
          const std::int64_t here = CountTargets(targets, options_.ignore_index);
          const double share = static_cast<double>(here) / static_cast<double>(counted_);
          LossKernels& kernels = backend.loss();
          correct_ += kernels.CountCorrect(logits, targets);
          if (here == 0) {  // nothing in this chunk counts; nor, perhaps, in any
            if (differentiating_) backend.elementwise().Fill(logits, 0);
            return;
          }
          kernels.CrossEntropyForward(logits, targets, KernelOptions(), log_sum_exp, chunk_loss_);
          backend.elementwise().Scale(chunk_loss_, share, chunk_loss_);
          backend.elementwise().Add(loss_, chunk_loss_, loss_);
          if (!differentiating_) return;
          backend.elementwise().Fill(chunk_seed_, share * options_.seed);
          kernels.CrossEntropyBackward(chunk_seed_, logits, targets, KernelOptions(), log_sum_exp,
                                       logits);
        });
  }

  void InputGradient(const Tensor& dlogits, const Tensor& dx) {
    context_.Launch({.kind = OperationKind::kProduct,
                     .bytes = BytesOf(dlogits, weight_.Read(), dx),
                     .flops = Flops(dlogits.shape()[0]),
                     .scratch_bytes = planned().LinearBackwardDataScratch(dlogits, weight_)},
                    [&](Backend& backend, void* scratch) {
                      backend.product().LinearBackwardData(dlogits, weight_, dx, false, scratch);
                    });
  }

  void WeightGradient(const Tensor& dlogits, std::int64_t begin, std::int64_t count,
                      const AffineTensors& gradients, bool accumulate) {
    const Tensor x = rows_.Narrow(begin, count);
    context_.Launch(
        {.kind = OperationKind::kProduct,
         .bytes =
             BytesOf(dlogits, x) + BytesOfGradients({gradients.weight, gradients.bias, accumulate}),
         .flops = Flops(count),
         .scratch_bytes = planned().LinearBackwardWeightScratch(dlogits, x, accumulate)},
        [&](Backend& backend, void* scratch) {
          backend.product().LinearBackwardWeight(dlogits, x, gradients.weight, gradients.bias,
                                                 accumulate, scratch);
        });
  }

  Context& context_;
  VocabularyLossOptions options_;
  Tensor rows_;     // [M, D]
  Tensor targets_;  // [M]
  Tensor bias_;
  LinearWeight weight_;
  Tensor loss_, chunk_loss_, chunk_seed_;  // [1]
  std::int64_t counted_ = 0;               // targets that count, in all chunks
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
    places.weight = context.Allocate(weight.shape, context.exact_dtype(), MemoryTag::kWorkspace);
  }
  return places;
}

}  // namespace

std::int64_t ChunkRows(std::int64_t rows, std::int64_t vocabulary) {
  constexpr std::int64_t kChunkElements = std::int64_t{8} << 20;
  constexpr std::int64_t kLeastRows = 256;
  const std::int64_t by_elements = std::max(kLeastRows, kChunkElements / vocabulary);
  const std::int64_t quarter = std::max<std::int64_t>(1, (rows + 3) / 4);
  return std::min(by_elements, quarter);
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
  chunks.set_differentiating(true);
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
