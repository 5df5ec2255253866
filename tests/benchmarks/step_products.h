#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "builders/capture/capture_training.h"
#include "presets/memory_presets.h"
#include "sdk/capture/calls/attention_calls.h"
#include "sdk/capture/calls/product_calls.h"
#include "tests/benchmarks/workloads.h"

namespace frugal {

// Describes products of one shape in a training step: c [m, n] = op(a) op(b) of depth k, in f32,
// `batch` of them at once. 'T' transposes and 'N' does not.
struct StepProduct {
  std::int64_t batch = 1;
  char transpose_a = 'N', transpose_b = 'N';
  std::int64_t m = 0, n = 0, k = 0;
  double flops = 0;  // of all of them in a step; of those that are causal, half

  double FlopsOfOne() const {
    return 2.0 * static_cast<double>(batch * m) * static_cast<double>(n * k);
  }
  bool HasShapeOf(const StepProduct& other) const {
    return batch == other.batch && transpose_a == other.transpose_a &&
           transpose_b == other.transpose_b && m == other.m && n == other.n && k == other.k;
  }
};

// Holds the products of a step, a plain value that a child process can return.
struct StepProducts {
  std::array<StepProduct, 96> shapes{};
  std::size_t count = 0;
  double other_flops = 0;  // of convolutions, recurrent layers

  std::span<const StepProduct> all() const { return std::span(shapes).first(count); }
  double Flops() const {
    double flops = 0;
    for (const StepProduct& product : all()) flops += product.flops;
    return flops;
  }
};

// Sees the calls of a step and takes down their products: a layer's three, and attention's, which
// are two forward and five backward, since scores are computed again.
class ProductCollector final : public CallSink {
 public:
  const StepProducts& products() const { return products_; }

  bool Wants(const Call& call, const CallPlace& place) override {
    if (!place.recomputed) Take(call);
    return false;
  }
  void Before(Call&, const CallPlace&) override {}
  void After(Call&, const CallPlace&) override {}

 private:
  void Take(const Call& call) {
    if (const auto* forward = dynamic_cast<const LinearForwardCall*>(&call)) {
      const LinearWeight& w = forward->weight;
      const char order = w.layout == WeightLayout::kOutIn ? 'T' : 'N';
      return Add(
          {1, 'N', order, forward->x.size() / w.inputs(), w.outputs(), w.inputs(), call.Flops()});
    }
    if (const auto* data = dynamic_cast<const LinearBackwardDataCall*>(&call)) {
      const LinearWeight& w = data->weight;
      const char order = w.layout == WeightLayout::kOutIn ? 'N' : 'T';
      return Add(
          {1, 'N', order, data->dx.size() / w.inputs(), w.inputs(), w.outputs(), call.Flops()});
    }
    if (const auto* weight = dynamic_cast<const LinearBackwardWeightCall*>(&call)) {
      const Shape& shape = weight->dweight.tensor.shape();
      const std::int64_t rows = weight->x.size() / weight->dweight.inputs();
      return Add({1, 'T', 'N', shape[0], shape[1], rows, call.Flops()});
    }
    if (const auto* forward = dynamic_cast<const AttentionForwardCall*>(&call)) {
      return AddAttention(forward->g, 1, 1, 0);
    }
    if (const auto* backward = dynamic_cast<const AttentionBackwardCall*>(&call)) {
      return AddAttention(backward->g, 2, 1, 2);
    }
    products_.other_flops += call.Flops();
  }

  // Counts: of scores' shape (q k^T), of outputs' (p v), and of keys' gradients (p^T dy).
  void AddAttention(const AttentionGeometry& g, int scores, int outputs, int gradients) {
    const std::int64_t heads = g.batch * g.heads;
    const double flops = ProductFlopsOf(g);
    Add({heads, 'N', 'T', g.query_length, g.key_length, g.head_size, scores * flops});
    Add({heads, 'N', 'N', g.query_length, g.head_size, g.key_length, outputs * flops});
    Add({heads, 'T', 'N', g.key_length, g.head_size, g.query_length, gradients * flops});
  }

  void Add(const StepProduct& product) {
    if (product.flops == 0) return;
    const auto end = products_.shapes.begin() + static_cast<std::ptrdiff_t>(products_.count);
    const auto same = std::find_if(products_.shapes.begin(), end,
                                   [&](const auto& other) { return other.HasShapeOf(product); });
    if (same != end) {
      same->flops += product.flops;
      return;
    }
    if (products_.count == products_.shapes.size()) {
      throw std::length_error("a step has more shapes of products than are counted here");
    }
    products_.shapes[products_.count++] = product;
  }

  StepProducts products_;
};

// Runs one step of a workload in f32, with nothing rematerialized, and returns its products.
inline StepProducts ProductsOf(const Workload& workload) {
  ProductCollector collector;
  ShowSteps(BuilderFor(workload, PresetByName("SpeedOptimized"), Precision::kF32).Plan(),
            SourcesOf(workload), collector, 1);
  return collector.products();
}

}  // namespace frugal
