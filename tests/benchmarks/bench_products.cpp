// Prints what our own bf16 products reach beside oneDNN's, in turn, in GFLOP/s: forward, the
// gradient of the input and that of the weight. Every call has other tensors than the one before,
// some of 12, so that they come from beyond the second cache as in a training step. Nothing here
// passes or fails.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "sdk/backend/backend.h"
#include "sdk/backend/onednn/choose_operation.h"
#include "sdk/backend/onednn/matmul/packed_gemm.h"
#include "sdk/backend/onednn/matmul/weight_gradient.h"
#include "tests/benchmarks/seconds.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using onednn::Operation;
using onednn::PackedLinearDescription;
using onednn::Pass;
using onednn::Slot;
using testing::RandomTensor;
using testing::ScratchOf;
using testing::Uninitialized;

struct Layer {
  Tensor x, y, dweight, packed;
};

class Bench {
 public:
  Bench(std::int64_t rows, std::int64_t inputs, std::int64_t outputs, int rounds)
      : rounds_(rounds) {
    description_.rows = rows;
    description_.inputs = inputs;
    description_.outputs = outputs;
    const auto backend = MakeBackend(BackendKind::kOneDnn);
    const LinearWeight weight(RandomTensor({outputs, inputs}, 3));
    for (int i = 0; i < kLayers; ++i) {
      Layer layer{RandomTensor({rows, inputs}, 1, DType::kBF16),
                  RandomTensor({rows, outputs}, 2, DType::kBF16), Uninitialized({outputs, inputs}),
                  ScratchOf(backend->product().PackedWeightBytes(weight))};
      backend->product().PackWeight(weight, layer.packed);
      layers_.push_back(std::move(layer));
    }
  }

  void Run() {
    std::printf("%5ld x %4ld x %4ld", static_cast<long>(description_.rows),
                static_cast<long>(description_.inputs), static_cast<long>(description_.outputs));
    CompareOperations(Pass::kForward);
    CompareOperations(Pass::kBackwardData);
    CompareWeightGradients();
    std::printf("\n");
    std::fflush(stdout);
  }

 private:
  static constexpr int kLayers = 12;

  PackedLinearDescription Describe(Pass pass) const {
    PackedLinearDescription description = description_;
    description.pass = pass;
    return description;
  }

  const Layer& Next() { return layers_[static_cast<std::size_t>(next_++ % kLayers)]; }

  void RunNext(Operation& operation, void* scratch) {
    const Layer& layer = Next();
    operation.Run({{Slot::kSource, layer.x.raw()},
                   {Slot::kWeight, layer.packed.raw()},
                   {Slot::kDestination, layer.y.raw()},
                   {Slot::kSourceGradient, layer.x.raw()},
                   {Slot::kWeightGradient, layer.dweight.raw()},
                   {Slot::kDestinationGradient, layer.y.raw()}},
                  scratch);
  }

  // Marked where ours is not the one that is taken.
  void CompareOperations(Pass pass) {
    const auto theirs = onednn::MakePrimitive(Describe(pass));
    const auto ours = onednn::MakePackedGemm(Describe(pass));
    const Tensor scratch = ScratchOf(std::max(theirs->ScratchBytes(), ours->ScratchBytes()));
    Print(BestInTurn<2>(
              {[&] { RunNext(*theirs, scratch.raw()); }, [&] { RunNext(*ours, scratch.raw()); }},
              rounds_),
          onednn::PackedGemmPays(Describe(pass)));
  }

  void CompareWeightGradients() {
    const auto theirs = onednn::MakePrimitive(Describe(Pass::kBackwardWeight));
    const onednn::WeightGradient sizes(layers_[0].y, layers_[0].x);
    const Tensor scratch = ScratchOf(std::max(theirs->ScratchBytes(), sizes.ScratchBytes()));
    const auto ours = [&] {
      const Layer& layer = Next();
      onednn::WeightGradient(layer.y, layer.x)
          .Run(LinearWeight(layer.dweight), {}, false, scratch.raw());
    };
    Print(BestInTurn<2>({[&] { RunNext(*theirs, scratch.raw()); }, ours}, rounds_), true);
  }

  void Print(const std::array<double, 2>& seconds, bool taken) const {
    const PackedLinearDescription& d = description_;
    const double flops = 2e-9 * static_cast<double>(d.rows * d.inputs * d.outputs);
    std::printf("   %6.0f %6.0f %5.2f%s", flops / seconds[0], flops / seconds[1],
                seconds[0] / seconds[1], taken ? " " : "*");
  }

  PackedLinearDescription description_;
  std::vector<Layer> layers_;
  int rounds_;
  int next_ = 0;
};

void RunAll(int rounds) {
  std::printf("bf16 products, %d threads, GFLOP/s of oneDNN and ours; * where oneDNN's is taken\n",
              ThreadCount());
  std::printf("%18s   %-20s   %-20s   %-20s\n", "", "forward", "input's gradient",
              "weight's gradient");
  constexpr std::int64_t kSizes[][3] = {{4096, 384, 384},  {4096, 384, 1152}, {4096, 384, 1536},
                                        {4096, 1536, 384}, {1024, 768, 768},  {1024, 768, 2304},
                                        {1024, 768, 3072}, {1024, 3072, 768}, {256, 768, 3072},
                                        {256, 1024, 1024}, {64, 768, 3072}};
  for (const auto& [rows, inputs, outputs] : kSizes) Bench(rows, inputs, outputs, rounds).Run();
}

}  // namespace
}  // namespace frugal

// bench_products [rounds]: the best of so many is taken, 5 unless told.
int main(int count, char** arguments) {
  if (!frugal::onednn::WeightGradient::IsAvailable()) {
    std::puts("this processor has no matrix tiles: all bf16 products are oneDNN's");
    return 0;
  }
  frugal::RunAll(count > 1 ? std::max(1, std::atoi(arguments[1])) : 5);
}
