#include "sdk/ops/attention.h"

#include <cmath>

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

// One gradient tensor per variable among q, k and v, however many views of it there are. A view
// that leaves part of its variable uncovered starts that gradient at zero.
class Gradients {
 public:
  explicit Gradients(Context& context) : context_(context) {}

  HeadsView For(const VarHeads& heads, std::int64_t covered) {
    for (Entry& entry : entries_) {
      if (entry.slot != heads.source.slot || entry.value.raw() != heads.source.value.raw())
        continue;
      entry.covered += covered;
      return {entry.gradient, heads.offset};
    }
    entries_.push_back({heads.source.value, heads.source.slot,
                        context_.Allocate(heads.source.shape(), heads.source.dtype()), covered});
    return {entries_.back().gradient, heads.offset};
  }

  void ZeroUncovered() {
    for (const Entry& entry : entries_) {
      if (entry.covered == entry.value.shape().back()) continue;
      context_.Launch(
          {OperationKind::kElementwise, BytesOf(entry.gradient)},
          [&](Backend& backend, void*) { backend.elementwise().Fill(entry.gradient, 0); });
    }
  }

  void Deliver() {
    for (Entry& entry : entries_) context_.Accumulate(entry.slot, std::move(entry.gradient));
  }

 private:
  struct Entry {
    Tensor value;
    int slot;
    Tensor gradient;
    std::int64_t covered;
  };
  Context& context_;
  std::vector<Entry> entries_;
};

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
  return context.Record(y, differentiable, [=, mask = options.mask](Context& ctx, Tensor dy) {
    Gradients gradients(ctx);
    const HeadsView dq = gradients.For(q, g.heads * g.head_size);
    const HeadsView dk = gradients.For(k, g.key_heads * g.head_size);
    const HeadsView dv = gradients.For(v, g.key_heads * g.head_size);
    gradients.ZeroUncovered();
    const AttentionKernels& planned = ctx.backend().attention();
    ctx.Launch({.kind = OperationKind::kAttention,
                .bytes = 2 * InputBytes(g, y.dtype()) + BytesOf(mask, y, dy, log_sum_exp),
                .flops = 2.5 * FlopsOf(g),
                .scratch_bytes = planned.BackwardScratch(g, y.dtype())},
               [&](Backend& backend, void* scratch) {
                 backend.attention().Backward(
                     g, dy, {q.source.value, q.offset}, {k.source.value, k.offset},
                     {v.source.value, v.offset}, mask, y, log_sum_exp, dq, dk, dv, scratch);
               });
    gradients.Deliver();
  });
}

}  // namespace frugal
