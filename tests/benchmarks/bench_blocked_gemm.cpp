// Prints what f32 products reach, in GFLOP/s: oneDNN's and those that the backend takes, in turn
// (sdk/backend/onednn/gemm/blocked_gemm.h), forward, for the gradient of the input and for that
// of the weight. Every call has other tensors than the one before, some of 6, so that they come
// from beyond the second cache as in a training step. Nothing here passes or fails.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "sdk/backend/backend.h"
#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/choose_operation.h"
#include "sdk/backend/onednn/gemm/gemm.h"
#include "tests/benchmarks/seconds.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using onednn::LinearDescription;
using onednn::Slot;
using testing::RandomTensor;
using testing::ScratchOf;

struct Layer {
  Tensor x, y, weight;
};

class Bench {
 public:
  Bench(const LinearDescription& description, int rounds)
      : d_(description), rounds_(rounds), backend_(MakeBackend(BackendKind::kOneDnn)) {
    const bool out_in = d_.layout == WeightLayout::kOutIn;
    for (int i = 0; i < kLayers; ++i) {
      layers_.push_back(
          {RandomTensor({d_.rows, d_.inputs}, 1), RandomTensor({d_.rows, d_.outputs}, 2),
           RandomTensor({out_in ? d_.outputs : d_.inputs, out_in ? d_.inputs : d_.outputs}, 3)});
    }
  }

  void Run() {
    std::printf("%5ld x %4ld x %5ld %s", static_cast<long>(d_.rows), static_cast<long>(d_.inputs),
                static_cast<long>(d_.outputs),
                d_.layout == WeightLayout::kOutIn ? "[out, in]" : "[in, out]");
    CompareForward();
    CompareInputGradient();
    CompareWeightGradient();
    std::printf("\n");
    std::fflush(stdout);
  }

 private:
  static constexpr int kLayers = 6;

  const Layer& Next() { return layers_[static_cast<std::size_t>(next_++ % kLayers)]; }

  void CompareForward() {
    const auto theirs = onednn::MakePrimitive(d_);
    const auto ours = onednn::ChooseOperation(d_);
    const Tensor scratch = ScratchOf(std::max(theirs->ScratchBytes(), ours->ScratchBytes()));
    const auto run = [&](onednn::Operation& operation) {
      const Layer& layer = Next();
      operation.Run({{Slot::kSource, layer.x.raw()},
                     {Slot::kWeight, layer.weight.raw()},
                     {Slot::kDestination, layer.y.raw()}},
                    scratch.raw());
    };
    Print(BestInTurn<2>({[&] { run(*theirs); }, [&] { run(*ours); }}, rounds_));
  }

  void CompareInputGradient() {
    ProductKernels& product = backend_->product();
    const LinearWeight sizes(layers_[0].weight, d_.layout);
    const Tensor scratch = ScratchOf(product.LinearBackwardDataScratch(layers_[0].y, sizes));
    const auto theirs = [&] {
      const Layer& layer = Next();
      const bool out_in = d_.layout == WeightLayout::kOutIn;
      onednn::MultiplyByOneDnn(
          {'N', out_in ? 'N' : 'T', d_.rows, d_.inputs, d_.outputs, layer.y.data<float>(),
           d_.outputs, layer.weight.data<float>(), out_in ? d_.inputs : d_.outputs},
          false, layer.x.data<float>(), d_.inputs);
    };
    const auto ours = [&] {
      const Layer& layer = Next();
      product.LinearBackwardData(layer.y, LinearWeight(layer.weight, d_.layout), layer.x, false,
                                 scratch.raw());
    };
    Print(BestInTurn<2>({theirs, ours}, rounds_));
  }

  void CompareWeightGradient() {
    ProductKernels& product = backend_->product();
    const Tensor scratch =
        ScratchOf(product.LinearBackwardWeightScratch(layers_[0].y, layers_[0].x, false));
    const auto theirs = [&] {
      const Layer& layer = Next();
      const float *const dy = layer.y.data<float>(), *const x = layer.x.data<float>();
      float* const weight = layer.weight.data<float>();
      if (d_.layout == WeightLayout::kOutIn) {
        onednn::MultiplyByOneDnn(
            {'T', 'N', d_.outputs, d_.inputs, d_.rows, dy, d_.outputs, x, d_.inputs}, false, weight,
            d_.inputs);
      } else {
        onednn::MultiplyByOneDnn(
            {'T', 'N', d_.inputs, d_.outputs, d_.rows, x, d_.inputs, dy, d_.outputs}, false, weight,
            d_.outputs);
      }
    };
    const auto ours = [&] {
      const Layer& layer = Next();
      product.LinearBackwardWeight(layer.y, layer.x, LinearWeight(layer.weight, d_.layout),
                                   Tensor(), false, scratch.raw());
    };
    Print(BestInTurn<2>({theirs, ours}, rounds_));
  }

  void Print(const std::array<double, 2>& seconds) const {
    const double flops = 2e-9 * static_cast<double>(d_.rows * d_.inputs * d_.outputs);
    std::printf("   %6.0f %6.0f %5.2f", flops / seconds[0], flops / seconds[1],
                seconds[0] / seconds[1]);
  }

  LinearDescription d_;
  std::vector<Layer> layers_;
  int rounds_;
  int next_ = 0;
  std::unique_ptr<Backend> backend_;
};

void RunAll(int rounds) {
  std::printf("f32 products, %d threads, GFLOP/s of oneDNN as it comes and of ours\n",
              ThreadCount());
  std::printf("%29s   %-20s   %-20s   %s\n", "", "forward", "input's gradient",
              "weight's gradient");
  constexpr std::int64_t kSizes[][3] = {
      {256, 784, 1024},  {256, 1024, 1024}, {256, 768, 768},   {256, 768, 3072}, {256, 3072, 768},
      {64, 768, 3072},   {128, 1024, 1024}, {64, 1024, 1024},  {32, 1024, 1024}, {256, 768, 50257},
      {1024, 768, 2304}, {1024, 768, 3072}, {1024, 3072, 768}, {512, 256, 768},  {4096, 384, 1536},
      {4096, 128, 384},  {4096, 768, 256},  {4096, 256, 1024}};
  for (const auto& [rows, inputs, outputs] : kSizes) {
    for (const WeightLayout layout : {WeightLayout::kOutIn, WeightLayout::kInOut}) {
      LinearDescription d;
      d.rows = rows;
      d.inputs = inputs;
      d.outputs = outputs;
      d.layout = layout;
      Bench(d, rounds).Run();
    }
  }
}

}  // namespace
}  // namespace frugal

// bench_blocked_gemm [rounds]: the best of so many is taken, 5 unless told.
int main(int count, char** arguments) {
  using frugal::simd::InstructionSet;
  if (frugal::simd::BestInstructionSet() != InstructionSet::kAvx2) {
    std::puts(
        "this processor has more than AVX2, or less: all f32 products are oneDNN's as it comes");
    return 0;
  }
  frugal::RunAll(count > 1 ? std::max(1, std::atoi(arguments[1])) : 5);
}
