#include "sdk/ops/attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sdk/autograd/saved_tensor.h"
#include "sdk/ops/support/check.h"

namespace frugal {
namespace {

// Kernels read a mask of [1 or B, 1 or H, 1 or Tq, Tk], in the element type of the scores.
void CheckMask(Context& context, const Tensor& mask, const Shape& query, const Shape& key,
               std::int64_t heads) {
  if (!mask) return;
  const Shape& shape = mask.shape();
  const bool fits = shape.rank() == 4 && (shape[0] == 1 || shape[0] == query[0]) &&
                    (shape[1] == 1 || shape[1] == heads) &&
                    (shape[2] == 1 || shape[2] == query[1]) && shape[3] == key[1];
  if (fits && (mask.dtype() == context.dtype() || mask.dtype() == context.master_dtype())) return;
  const Shape wanted = {query[0], heads, query[1], key[1]};
  ThrowShape(context,
             "a mask has the shape " + ToString(wanted) + ", or 1 for all but the last, and the " +
                 "element type of the model; this one is " + ToString(shape) + " " +
                 std::string(NameOf(mask.dtype())),
             query, "give one number for each query and key");
}

// Kernels read `features` of each row, from the view's offset on.
void CheckHeads(Context& context, const std::string& name, const VarHeads& view,
                std::int64_t features) {
  const Shape& shape = view.source.shape();
  if (view.offset >= 0 && view.offset + features <= shape.back()) return;
  ThrowShape(context,
             name + " have " + std::to_string(features) + " features from number " +
                 std::to_string(view.offset) + " on: heads of one size for all three",
             shape, "give queries, keys and values of that size");
}

AttentionGeometry Fit(Context& context, const VarHeads& q, const VarHeads& k, const VarHeads& v,
                      const AttentionOptions& options) {
  const Shape& query = q.source.shape();
  const Shape& key = k.source.shape();
  if (query.rank() != 3 || key.rank() != 3 || query[0] != key[0]) {
    ThrowShape(context,
               "attention takes [batch, positions, features] of one batch, here " + ToString(query),
               key, "give queries and keys of the same batch");
  }
  const Shape& value = v.source.shape();
  if (value.rank() != 3 || value[0] != key[0] || value[1] != key[1]) {
    ThrowShape(context, "each key has a value, and keys are " + ToString(key), value,
               "give as many values as keys");
  }
  if (options.key_heads < 1 || options.heads % options.key_heads != 0) {
    ThrowShape(context,
               "key heads (" + std::to_string(options.key_heads) + ") divide the heads (" +
                   std::to_string(options.heads) + ")",
               query, "choose a divisor");
  }
  CheckHeads(context, "queries", q, options.heads * options.head_size);
  CheckHeads(context, "keys", k, options.key_heads * options.head_size);
  CheckHeads(context, "values", v, options.key_heads * options.head_size);
  CheckMask(context, options.mask, query, key, options.heads);
  return {.batch = query[0],
          .query_length = query[1],
          .key_length = key[1],
          .heads = options.heads,
          .key_heads = options.key_heads,
          .head_size = options.head_size,
          .scale = options.scale != 0 ? options.scale
                                      : 1 / std::sqrt(static_cast<double>(options.head_size)),
          .causal = options.causal};
}

// Returns the bytes of queries, keys and values.
std::int64_t InputBytes(const AttentionGeometry& g, DType dtype) {
  const std::int64_t rows = g.query_length * g.heads + 2 * g.key_length * g.key_heads;
  return g.batch * rows * g.head_size * SizeOf(dtype);
}

double FlopsOf(const AttentionGeometry& g) {
  return 4.0 * static_cast<double>(g.batch * g.heads * g.query_length) *
         static_cast<double>(g.key_length * g.head_size) * (g.causal ? 0.5 : 1.0);
}

// The variables among q, k and v, each once however many views of it there are, as they are kept
// for the backward pass.
class KeptSources {
 public:
  KeptSources(Context& context, const std::array<VarHeads, 3>& views) {
    std::vector<Var> distinct;
    for (std::size_t i = 0; i < views.size(); ++i) {
      const Var& source = views[i].source;
      const auto same = [&](const Var& one) {
        return one.slot == source.slot && one.value.raw() == source.value.raw();
      };
      const auto found = std::ranges::find_if(distinct, same);
      numbers_[i] = static_cast<std::size_t>(found - distinct.begin());
      offsets_[i] = views[i].offset;
      if (found != distinct.end()) continue;
      distinct.push_back({source.value, source.slot});
      slots_.push_back(source.slot);
      kept_.emplace_back(context, distinct.back());
    }
  }

  // The values, once.
  std::vector<Tensor> Get(Context& context) const {
    std::vector<Tensor> values;
    values.reserve(kept_.size());
    for (const SavedTensor& one : kept_) values.push_back(one.Get(context));
    return values;
  }
  // One of q, k and v among tensors like the variables: their values, or gradients.
  HeadsView View(std::size_t which, const std::vector<Tensor>& tensors) const {
    return {tensors[numbers_[which]], offsets_[which]};
  }
  const std::vector<int>& slots() const { return slots_; }
  std::size_t number(std::size_t which) const { return numbers_[which]; }

 private:
  std::array<std::size_t, 3> numbers_{};
  std::array<std::int64_t, 3> offsets_{};
  std::vector<int> slots_;
  std::vector<SavedTensor> kept_;
};

// Gradients of the variables. Where views leave a part of one uncovered, it starts at zero.
std::vector<Tensor> AllocateGradients(Context& context, const KeptSources& sources,
                                      const std::vector<Tensor>& values,
                                      const std::array<std::int64_t, 3>& features) {
  std::vector<std::int64_t> covered(values.size(), 0);
  for (std::size_t i = 0; i < features.size(); ++i) covered[sources.number(i)] += features[i];
  std::vector<Tensor> gradients;
  gradients.reserve(values.size());
  for (const Tensor& value : values) {
    gradients.push_back(context.Allocate(value.shape(), value.dtype()));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Tensor& gradient = gradients[i];
    if (covered[i] == gradient.shape().back()) continue;
    context.Launch({OperationKind::kElementwise, BytesOf(gradient)},
                   [&](Backend& backend, void*) { backend.elementwise().Fill(gradient, 0); });
  }
  return gradients;
}

}  // namespace

Var Attention(Context& context, const VarHeads& q, const VarHeads& k, const VarHeads& v,
              const AttentionOptions& options) {
  const AttentionGeometry g = Fit(context, q, k, v, options);
  const Tensor y =
      context.Allocate({g.batch, g.query_length, g.heads * g.head_size}, q.source.dtype());
  const Tensor log_sum_exp =
      context.Allocate({g.batch, g.heads, g.query_length}, context.master_dtype());
  const AttentionKernels& kernels = context.backend().attention();
  context.Launch({.kind = OperationKind::kAttention,
                  .bytes = InputBytes(g, y.dtype()) + BytesOf(options.mask, y, log_sum_exp),
                  .flops = FlopsOf(g),
                  .scratch_bytes = kernels.ForwardScratch(g, y.dtype())},
                 [&](Backend& backend, void* scratch) {
                   backend.attention().Forward(
                       g, {q.source.value, q.offset}, {k.source.value, k.offset},
                       {v.source.value, v.offset}, options.mask, y, log_sum_exp, scratch);
                 });
  const bool differentiable =
      q.source.needs_gradient() || k.source.needs_gradient() || v.source.needs_gradient();
  if (!differentiable) return context.Record(y, false, {});  // nothing is kept, or paged
  const KeptSources sources(context, {q, k, v});
  const SavedTensor result(context, {y});
  return context.Record(y, true, [=, mask = options.mask](Context& ctx, Tensor dy) {
    const std::vector<Tensor> values = sources.Get(ctx);
    const Tensor made = result.Get(ctx);
    std::vector<Tensor> gradients = AllocateGradients(
        ctx, sources, values,
        {g.heads * g.head_size, g.key_heads * g.head_size, g.key_heads * g.head_size});
    const AttentionKernels& planned = ctx.backend().attention();
    ctx.Launch({.kind = OperationKind::kAttention,
                .bytes = 2 * InputBytes(g, made.dtype()) + BytesOf(mask, made, dy, log_sum_exp),
                .flops = 2.5 * FlopsOf(g),
                .scratch_bytes = planned.BackwardScratch(g, made.dtype())},
               [&](Backend& backend, void* scratch) {
                 backend.attention().Backward(
                     g, dy, sources.View(0, values), sources.View(1, values),
                     sources.View(2, values), mask, made, log_sum_exp, sources.View(0, gradients),
                     sources.View(1, gradients), sources.View(2, gradients), scratch);
               });
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      ctx.Accumulate(sources.slots()[i], std::move(gradients[i]));
    }
  });
}

}  // namespace frugal
