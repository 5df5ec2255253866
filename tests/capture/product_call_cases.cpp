#include "sdk/capture/calls/attention_calls.h"
#include "sdk/capture/calls/elementwise_calls.h"
#include "sdk/capture/calls/product_calls.h"
#include "tests/capture/call_cases.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kBatch = 2, kLength = 7, kHeads = 4, kKeyHeads = 2, kSize = 8;
constexpr std::int64_t kRow = (kHeads + 2 * kKeyHeads) * kSize;

void FillGeometry(AttentionGeometry& g) {
  g = {.batch = kBatch,
       .query_length = kLength,
       .key_length = kLength,
       .heads = kHeads,
       .key_heads = kKeyHeads,
       .head_size = kSize,
       .scale = 0.4,
       .causal = true};
}

// Queries, keys and values side by side in one tensor.
void FillHeads(const Tensor& all, HeadsView& q, HeadsView& k, HeadsView& v) {
  q = {all, 0};
  k = {all, kHeads * kSize};
  v = {all, (kHeads + kKeyHeads) * kSize};
}

void FillAttentionBackward(AttentionBackwardCall& c, CallDraw& d) {
  FillGeometry(c.g);
  FillHeads(d.Real({kBatch, kLength, kRow}), c.q, c.k, c.v);
  FillHeads(CallDraw::Out({kBatch, kLength, kRow}), c.dq, c.dk, c.dv);
  c.dy = d.Real({kBatch, kLength, kHeads * kSize});
  c.y = CallDraw::Out({kBatch, kLength, kHeads * kSize});
  c.log_sum_exp = CallDraw::Out({kBatch, kHeads, kLength});
  const auto backend = MakeEigenBackend();
  const Tensor scratch = ScratchOf(backend->attention().ForwardScratch(c.g, DType::kF32));
  backend->attention().Forward(c.g, c.q, c.k, c.v, {}, c.y, c.log_sum_exp, scratch.raw());
}

std::vector<CallCase> PointwiseCases() {
  return {
      CaseOf<ActivationForwardCall>([](auto& c, CallDraw& d) {
        c.kind = Activation::kGelu;
        c.x = d.Real({6, 11}), c.y = d.Out({6, 11});
      }),
      CaseOf<ActivationBackwardCall>([](auto& c, CallDraw& d) {
        c.kind = Activation::kSilu;
        c.dy = d.Real({6, 11}), c.kept = d.Real({6, 11}), c.dx = c.dy;
      }),
      CaseOf<AddCall>([](auto& c, CallDraw& d) {
        c.a = d.Real({6, 11}), c.b = d.Real({6, 11}), c.sum = c.a;
      }),
      CaseOf<ScaleCall>([](auto& c, CallDraw& d) {
        c.x = d.Real({6, 11}), c.factor = 0.3, c.y = d.Out({6, 11});
      }),
      CaseOf<FillCall>([](auto& c, CallDraw& d) {
        c.x = d.Out({6, 11}), c.value = 1.5;
      }),
      CaseOf<CopyCall>([](auto& c, CallDraw& d) {
        c.from = d.Real({6, 11}), c.to = d.Out({6, 11});
      }),
      CaseOf<DropoutCall>([](auto& c, CallDraw& d) {
        c.x = d.Real({6, 11}), c.rate = 0.25, c.key = 0x8000000000000007U, c.y = d.Out({6, 11});
      }),
      CaseOf<PermuteCall>([](auto& c, CallDraw& d) {
        c.x = d.Real({3, 5, 4}), c.axes = {2, 0, 1}, c.y = d.Out({4, 3, 5});
      }),
  };
}

}  // namespace

std::vector<CallCase> ProductCallCases() {
  std::vector<CallCase> cases = {
      CaseOf<LinearForwardCall>([](auto& c, CallDraw& d) {
        const std::int64_t rows = d.Extent(5, 30), in = d.Extent(4, 20), out = d.Extent(4, 20);
        c.x = d.Real({rows, in}), c.weight = LinearWeight(d.Real({out, in}));
        c.bias = d.Real({out}), c.residual = d.Real({rows, out}), c.y = d.Out({rows, out});
        c.epilogue = {.activation = Activation::kRelu};
      }),
      CaseOf<LinearBackwardDataCall>([](auto& c, CallDraw& d) {
        const std::int64_t rows = d.Extent(5, 30), in = d.Extent(4, 20), out = d.Extent(4, 20);
        c.dy = d.Real({rows, out});
        c.weight = LinearWeight(d.Real({in, out}), WeightLayout::kInOut);
        c.dx = d.Real({rows, in}), c.accumulate = true;
      }),
      CaseOf<LinearBackwardWeightCall>([](auto& c, CallDraw& d) {
        const std::int64_t rows = d.Extent(5, 30), in = d.Extent(4, 20), out = d.Extent(4, 20);
        c.dy = d.Real({rows, out}), c.x = d.Real({rows, in});
        c.dweight = LinearWeight(d.Out({out, in})), c.dbias = d.Out({out});
      }),
      CaseOf<AttentionForwardCall>([](auto& c, CallDraw& d) {
        FillGeometry(c.g);
        FillHeads(d.Real({kBatch, kLength, kRow}), c.q, c.k, c.v);
        c.y = d.Out({kBatch, kLength, kHeads * kSize});
        c.log_sum_exp = d.Out({kBatch, kHeads, kLength});
      }),
      CaseOf<AttentionBackwardCall>(FillAttentionBackward),
  };
  const std::vector<CallCase> more = PointwiseCases();
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace frugal::testing
