#include "sdk/ops/embedding.h"

#include <utility>

#include "sdk/module/parameter_store.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {

namespace {

// Adds the gradient of rows to that of the table.
void AddRows(Context& context, const Tensor& dy, const Tensor& ids, const Parameter& table,
             std::int64_t padding) {
  const GradientTarget target = context.parameters().TableGradientFor(table);
  context.Launch({OperationKind::kEmbedding,
                  BytesOf(ids, dy, dy) + BytesOf(target.accumulate ? dy : target.tensor)},
                 [&](Backend& backend, void*) {
                   backend.array().ScatterAdd(dy, ids, target.tensor, target.accumulate, padding);
                 });
}

}  // namespace

Var Embedding(Context& context, const Tensor& ids, const Parameter& table, std::int64_t padding) {
  if (ids.dtype() != DType::kI64) {
    ThrowShape(context, "an embedding takes ids of type i64", ids.shape(), "give token numbers");
  }
  std::vector<std::int64_t> extents(ids.shape().extents().begin(), ids.shape().extents().end());
  extents.push_back(table.shape[1]);
  const Tensor values = context.parameters().Value(table);
  const Tensor y = context.Allocate(Shape(extents), values.dtype());
  context.Launch({OperationKind::kEmbedding, BytesOf(ids, y, y)},
                 [&](Backend& backend, void*) { backend.array().Gather(values, ids, y); });
  const Var rows =
      context.Record(y, table.trainable, [ids, &table, padding](Context& ctx, Tensor dy) {
        const auto add = [ids, &table, padding, dy = std::move(dy)](Context& in) {
          AddRows(in, dy, ids, table, padding);
        };
        table.aliases.empty() ? add(ctx) : ctx.RunDeferred(Deferred::kSharedTables, add);
      });
  return ToActivation(context, rows);
}

}  // namespace frugal
