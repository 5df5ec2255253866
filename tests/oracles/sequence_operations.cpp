#include "sdk/ops/attention.h"
#include "sdk/ops/boxes.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/recurrent.h"
#include "tests/oracles/operation_table.h"

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

// [Tq, Tk], or with heads and batch before them -> [1 or B, 1 or H, Tq, Tk]
Tensor MaskOf(OracleRun& run) {
  if (!run.Has("mask")) return {};
  const Tensor mask = run.Constant("mask");
  Shape shape{1, 1, 1, 1};
  if (mask.shape().rank() > shape.rank()) {
    RefuseAttribute(run, "a mask has at most the axes [batch, heads, queries, keys]");
  }
  const std::size_t missing = shape.rank() - mask.shape().rank();
  for (std::size_t i = 0; i < mask.shape().rank(); ++i) shape[missing + i] = mask.shape()[i];
  return mask.Reshape(shape);
}

Var RunAttention(OracleRun& run) {
  if (run.attributes().value("layout", "[batch, heads, sequence, head_dim]") !=
      "[batch, heads, sequence, head_dim]") {
    RefuseAttribute(run, "attention is laid out as [batch, heads, sequence, head_dim]");
  }
  const Var q = run.Input("q");
  const Var k = run.Input("k");
  const Var v = run.Input("v");
  const AttentionOptions options = {.heads = q.shape()[1],
                                    .key_heads = k.shape()[1],
                                    .head_size = q.shape()[3],
                                    .scale = run.attributes().value("scale", 0.0),
                                    .causal = run.attributes().value("causal", false),
                                    .mask = MaskOf(run)};
  Context& context = run.context();
  const Var y = Attention(context, {JoinHeads(context, q)}, {JoinHeads(context, k)},
                          {JoinHeads(context, v)}, options);
  return SplitHeads(context, y, options.heads);
}

Var RunEmbedding(OracleRun& run) {
  return Embedding(run.context(), run.Constant("ids"), run.Weight("table"));
}

// PyTorch's names end in the number of the layer: weight_ih_l0, then weight_ih_l1, ...
template <Var (*function)(Context&, const Var&, const RecurrentParameters&)>
Var RunRecurrent(OracleRun& run) {
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
