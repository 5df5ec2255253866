#pragma once

#include "tests/backend/onednn/attention_support.h"
#include "tests/catch.h"

// A kernel's forward and backward on the numbers of a case, in memory that shows what it does not
// write and what it should not have.
namespace frugal::testing {

inline AttentionGeometry Geometry(std::int64_t batch, std::int64_t queries, std::int64_t keys,
                                  std::int64_t heads, std::int64_t key_heads,
                                  std::int64_t head_size, bool causal = false) {
  return {batch,
          queries,
          keys,
          heads,
          key_heads,
          head_size,
          1 / std::sqrt(static_cast<double>(head_size)),
          causal};
}

inline constexpr double kUntouched = 0.375;

struct KernelResults {
  Tensor y, log_sum_exp;
  HeadsView dq, dk, dv;
};

// Like the inputs: views into one tensor stay so.
inline void MakeGradients(const AttentionTensors& t, DType dtype, KernelResults& r) {
  const auto make = [&](const HeadsView& view) {
    return HeadsView{Full(view.tensor.shape(), kUntouched, dtype), view.offset};
  };
  r.dq = make(t.q);
  r.dk = t.k.tensor.SharesStorageWith(t.q.tensor) ? HeadsView{r.dq.tensor, t.k.offset} : make(t.k);
  r.dv = t.v.tensor.SharesStorageWith(t.k.tensor) ? HeadsView{r.dk.tensor, t.v.offset} : make(t.v);
}

inline KernelResults Run(AttentionKernels& kernels, const AttentionGeometry& g,
                         const AttentionTensors& t) {
  const DType dtype = t.dy.dtype();
  KernelResults r;
  r.y = Uninitialized(t.dy.shape(), dtype);
  r.log_sum_exp = Uninitialized({g.batch, g.heads, g.query_length},
                                dtype == DType::kBF16 ? DType::kF32 : dtype);
  MakeGradients(t, dtype, r);
  const Scratch forward(kernels.ForwardScratch(g, dtype));
  kernels.Forward(g, t.q, t.k, t.v, t.mask, r.y, r.log_sum_exp, forward.get());
  CHECK(forward.GuardIsIntact());
  const Scratch backward(kernels.BackwardScratch(g, dtype));
  kernels.Backward(g, t.dy, t.q, t.k, t.v, t.mask, r.y, r.log_sum_exp, r.dq, r.dk, r.dv,
                   backward.get());
  CHECK(backward.GuardIsIntact());
  return r;
}

// How many elements outside of the views were written.
inline std::int64_t Overwritten(const AttentionGeometry& g, const KernelResults& r) {
  std::int64_t inside = 0;
  std::vector<Tensor> tensors;
  for (const HeadsView* view : {&r.dq, &r.dk, &r.dv}) {
    const std::int64_t heads = view == &r.dq ? g.heads : g.key_heads;
    inside += view->tensor.shape().RowCount() * heads * g.head_size;
    const bool seen = std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& tensor) {
      return tensor.SharesStorageWith(view->tensor);
    });
    if (!seen) tensors.push_back(view->tensor);
  }
  std::int64_t untouched = 0, all = 0;
  for (const Tensor& tensor : tensors) {
    const auto values = Values(tensor);
    all += tensor.size();
    untouched += std::count(values.begin(), values.end(), kUntouched);
  }
  return all - inside - untouched;
}

}  // namespace frugal::testing
