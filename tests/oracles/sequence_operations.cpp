#include <limits>

#include "sdk/ops/attention.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/embedding.h"
#include "sdk/ops/recurrent.h"
#include "tests/oracles/operation_table.h"
#include "tests/support/tensors.h"

namespace frugal::oracles {
namespace {

// [batch, heads, sequence, head_dim] -> [batch, sequence, heads * head_dim]
Var JoinHeads(Context& context, const Var& x) {
  const Shape& s = x.shape();
  return Reshape(context, Permute(context, x, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
}

// And back.
Var SplitHeads(Context& context, const Var& x, std::int64_t heads) {
  const Shape& s = x.shape();
  const Var split = Reshape(context, x, {s[0], s[1], heads, s[2] / heads});
  return Permute(context, split, {0, 2, 1, 3});
}

// [Tq, Tk], or with heads and batch before them -> [1 or B, 1 or H, 1 or Tq, 1 or Tk]
Tensor GivenMask(OracleRun& run) {
  const DType dtype = MasterType(run.context().dtype());
  if (!run.Has("mask")) return testing::Full({1, 1, 1, 1}, 0, dtype);
  const Tensor mask = run.Constant("mask");
  Shape shape{1, 1, 1, 1};
  if (mask.shape().rank() > shape.rank()) {
    RefuseAttribute(run, "a mask has at most the axes [batch, heads, queries, keys]");
  }
  const std::size_t missing = shape.rank() - mask.shape().rank();
  for (std::size_t i = 0; i < mask.shape().rank(); ++i) shape[missing + i] = mask.shape()[i];
  if (!run.IsBoolean("mask")) return mask.Reshape(shape);
  std::vector<double> added = testing::Values(mask);
  for (double& value : added) value = value != 0 ? 0 : -std::numeric_limits<double>::infinity();
  return testing::MakeTensor(shape, added, dtype);
}

// [1 or B, 1 or H, Tq, Tk], or none. `from_front`: query t sees keys up to t, whatever the lengths,
// as PyTorch's is_causal counts; attention here counts both from their ends.
Tensor MaskOf(OracleRun& run, std::int64_t queries, std::int64_t keys, bool from_front) {
  if (!run.Has("mask") && !from_front) return {};
  const Tensor given = GivenMask(run);
  const Shape& from = given.shape();
  if (!from_front && from[3] == keys) return given;
  const std::vector<double> values = testing::Values(given);
  std::vector<double> mask;
  for (std::int64_t plane = 0; plane < from[0] * from[1]; ++plane) {
    for (std::int64_t i = 0; i < queries; ++i) {
      for (std::int64_t j = 0; j < keys; ++j) {
        const std::int64_t row = from[2] == 1 ? plane : plane * from[2] + i;
        const std::int64_t at = from[3] == 1 ? row : row * from[3] + j;
        const bool hidden = from_front && j > i;
        mask.push_back(hidden ? -std::numeric_limits<double>::infinity()
                              : values.at(static_cast<std::size_t>(at)));
      }
    }
  }
  return testing::MakeTensor({from[0], from[1], queries, keys}, mask, given.dtype());
}

Var RunAttention(OracleRun& run) {
  if (run.attributes().value("layout", "[batch, heads, sequence, head_dim]") !=
      "[batch, heads, sequence, head_dim]") {
    RefuseAttribute(run, "attention is laid out as [batch, heads, sequence, head_dim]");
  }
  const Var q = run.Input("q");
  const Var k = run.Input("k");
  const Var v = run.Input("v");
  const std::int64_t queries = q.shape()[2];
  const std::int64_t keys = k.shape()[2];
  const bool causal = run.attributes().value("causal", false);
  const AttentionOptions options = {.heads = q.shape()[1],
                                    .key_heads = k.shape()[1],
                                    .head_size = q.shape()[3],
                                    .scale = run.attributes().value("scale", 0.0),
                                    .causal = causal && queries == keys,
                                    .mask = MaskOf(run, queries, keys, causal && queries != keys)};
  Context& context = run.context();
  const Var y = Attention(context, {JoinHeads(context, q)}, {JoinHeads(context, k)},
                          {JoinHeads(context, v)}, options);
  return SplitHeads(context, y, options.heads);
}

Var RunEmbedding(OracleRun& run) {
  const Parameter& table = run.Weight("table");
  std::int64_t padding = -1;  // PyTorch's may count from the end
  if (run.attributes().contains("padding_idx")) {
    padding = run.attributes().at("padding_idx");
    if (padding < 0) padding += table.shape[0];
  }
  return Embedding(run.context(), run.Constant("ids"), table, padding);
}

// PyTorch's names end in the number of the layer: weight_ih_l0, then weight_ih_l1, ...
template <Var (*function)(Context&, const Var&, const RecurrentParameters&)>
Var RunRecurrent(OracleRun& run) {
  const bool forward = !run.attributes().value("bidirectional", false);
  if (!forward || run.Has("h0") || !run.attributes().value("batch_first", true)) {
    RefuseAttribute(run, "recurrent layers go forward over [batch, steps, features] from zeros");
  }
  Var x = run.Input("input");
  for (int layer = 0; layer == 0 || run.Has("weight_ih_l" + std::to_string(layer)); ++layer) {
    const std::string end = "_l" + std::to_string(layer);
    RecurrentParameters parameters;
    parameters.weight_ih = &run.Weight("weight_ih" + end);
    parameters.weight_hh = &run.Weight("weight_hh" + end);
    parameters.bias_ih = run.WeightIfThere("bias_ih" + end);
    parameters.bias_hh = run.WeightIfThere("bias_hh" + end);
    x = function(run.context(), x, parameters);
  }
  return x;
}

}  // namespace

OperationTable SequenceOperations() {
  return {
      {"attention", RunAttention},
      {"embedding", RunEmbedding},
      {"lstm", RunRecurrent<Lstm>},
      {"gru", RunRecurrent<Gru>},
  };
}

}  // namespace frugal::oracles
