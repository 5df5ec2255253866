// Prints what this library's own ways of convolving reach beside oneDNN's, in turn: Winograd's
// method in f32, within the scratch that it may take, products with the matrix of windows, and in
// bf16 products on matrix tiles (* where they are taken; Winograd's method goes first). Shapes are
// those of ResNet-18 and of a small U-Net. GFLOP/s are those of the direct way in both columns.
// Nothing here passes or fails.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "sdk/backend/backend.h"
#include "sdk/backend/onednn/choose_operation.h"
#include "sdk/backend/onednn/conv/conv_weight_gradient.h"
#include "sdk/backend/onednn/conv/implicit_gemm.h"
#include "sdk/backend/onednn/conv/lowered_conv.h"
#include "sdk/backend/onednn/conv/winograd.h"
#include "sdk/backend/onednn/conv/winograd_onednn.h"
#include "tests/backend/onednn/conv_support.h"
#include "tests/benchmarks/seconds.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using onednn::ConvDescription;
using onednn::Operation;
using onednn::Pass;
using onednn::Slot;
using testing::RandomTensor;
using testing::ScratchOf;
using testing::Uninitialized;

struct Sizes {
  std::int64_t batch, inputs, outputs, extent, kernel = 3, stride = 1;

  std::int64_t Extent() const { return (extent - 1) / stride + 1; }  // of the output

  ConvGeometry Geometry() const {
    return testing::ImageConvolution({batch, extent, inputs, outputs, kernel, stride});
  }

  double Flops() const {
    return 2.0 * static_cast<double>(batch * Extent() * Extent() * inputs * outputs) *
           static_cast<double>(kernel * kernel);
  }
};

const std::vector<Sizes>& AllSizes() {
  static const std::vector<Sizes> kSizes{
      {64, 64, 64, 32},        {64, 64, 128, 32, 3, 2},  {64, 64, 128, 32, 1, 2},
      {64, 128, 128, 16},      {64, 128, 256, 16, 3, 2}, {64, 128, 256, 16, 1, 2},
      {64, 256, 256, 8},       {64, 256, 512, 8, 3, 2},  {64, 256, 512, 8, 1, 2},
      {64, 512, 512, 4},       {8, 64, 64, 56},          {8, 64, 128, 56, 3, 2},
      {8, 128, 128, 28},       {8, 256, 256, 14},        {8, 512, 512, 7},
      {16, 64, 64, 32},        {16, 64, 128, 16},        {16, 128, 128, 16},
      {16, 128, 128, 8},       {16, 256, 128, 8},        {16, 128, 64, 32},
      {16, 256, 128, 8, 1, 1}, {128, 32, 64, 14},        {128, 32, 32, 14}};
  return kSizes;
}

// A convolution's tensors, and how one operation reads and writes them.
class Case {
 public:
  Case(const Sizes& sizes, DType dtype)
      : x_(RandomTensor({sizes.batch, sizes.extent, sizes.extent, sizes.inputs}, 1, dtype)),
        y_(RandomTensor({sizes.batch, sizes.Extent(), sizes.Extent(), sizes.outputs}, 2, dtype)),
        weight_(RandomTensor({sizes.outputs, sizes.inputs, sizes.kernel, sizes.kernel}, 3)) {
    description_.geometry = sizes.Geometry();
    description_.dtype = dtype;
  }

  ConvDescription Describe(Pass pass) const {
    ConvDescription description = description_;
    description.pass = pass;
    return description;
  }

  void Run(Operation& operation, void* scratch) const {
    operation.Run({{Slot::kSource, x_.raw()},
                   {Slot::kWeight, weight_.raw()},
                   {Slot::kDestination, y_.raw()},
                   {Slot::kSourceGradient, x_.raw()},
                   {Slot::kWeightGradient, weight_.raw()},
                   {Slot::kDestinationGradient, y_.raw()}},
                  scratch);
  }

 private:
  Tensor x_, y_, weight_;
  ConvDescription description_;
};

struct Way {
  std::unique_ptr<Operation> operation;
  Tensor scratch;

  explicit Way(std::unique_ptr<Operation> made)
      : operation(std::move(made)),
        scratch(ScratchOf(operation == nullptr ? 0 : operation->ScratchBytes())) {}
};

void PrintSizes(const Sizes& s) {
  std::printf("%4ld x %3ld -> %3ld of %2ld x %2ld, %ld x %ld / %ld", static_cast<long>(s.batch),
              static_cast<long>(s.inputs), static_cast<long>(s.outputs),
              static_cast<long>(s.extent), static_cast<long>(s.extent), static_cast<long>(s.kernel),
              static_cast<long>(s.kernel), static_cast<long>(s.stride));
}

// oneDNN's way and ours; prints nothing where there is no second way.
void Compare(const Sizes& sizes, const Case& c, Pass pass, const char* name,
             std::unique_ptr<Operation> ours, int rounds) {
  if (ours == nullptr) return;
  const Way theirs(onednn::MakePrimitive(c.Describe(pass))), own(std::move(ours));
  const auto seconds = BestInTurn<2>({[&] { c.Run(*theirs.operation, theirs.scratch.raw()); },
                                      [&] { c.Run(*own.operation, own.scratch.raw()); }},
                                     rounds);
  PrintSizes(sizes);
  std::printf("  %-8s %8.0f %8.0f %6.2f %8.1f\n", name, 1e-9 * sizes.Flops() / seconds[0],
              1e-9 * sizes.Flops() / seconds[1], seconds[0] / seconds[1],
              1e-6 * static_cast<double>(own.scratch.bytes()));
  std::fflush(stdout);
}

void PrintTitle(const char* title) {
  std::printf("%s, %d threads\n%-44s %8s %8s %6s %8s\n", title, ThreadCount(), "", "oneDNN", "ours",
              "ratio", "MB");
}

constexpr std::pair<Pass, const char*> kAllPasses[] = {
    {Pass::kForward, "forward"}, {Pass::kBackwardData, "data"}, {Pass::kBackwardWeight, "weight"}};

using MakeWinogradOf = std::unique_ptr<Operation> (*)(const ConvDescription&, std::int64_t);

void WinogradConvolution(const char* title, MakeWinogradOf make,
                         std::int64_t (*most)(const ConvGeometry&), int rounds) {
  PrintTitle(title);
  for (const Sizes& sizes : AllSizes()) {
    const Case c(sizes, DType::kF32);
    for (const auto& [pass, name] : kAllPasses) {
      Compare(sizes, c, pass, name, make(c.Describe(pass), most(sizes.Geometry())), rounds);
    }
  }
}

// These have few positions, or windows of single ones as in a ResNet-50.
const std::vector<Sizes>& MoreSizes() {
  static const std::vector<Sizes> more{
      {1, 64, 128, 32, 3, 2},  {1, 128, 128, 16},     {1, 64, 128, 32, 1, 2},
      {1, 128, 256, 16, 3, 2}, {1, 256, 256, 8},      {1, 256, 512, 8, 3, 2},
      {1, 512, 512, 4},        {4, 512, 512, 4},      {4, 256, 256, 8},
      {1, 512, 512, 7},        {1, 256, 256, 14},     {1, 128, 128, 8},
      {2, 128, 128, 8},        {8, 64, 64, 56, 1},    {8, 64, 256, 56, 1},
      {8, 256, 64, 56, 1},     {8, 512, 128, 28, 1},  {8, 256, 1024, 14, 1},
      {8, 1024, 256, 14, 1},   {8, 512, 2048, 7, 1},  {8, 2048, 512, 7, 1},
      {1, 512, 2048, 7, 1},    {1, 1024, 256, 14, 1}, {8, 256, 512, 56, 1, 2},
      {8, 512, 1024, 28, 1, 2}};
  return more;
}

void Lowered(int rounds) {
  PrintTitle("Products with the matrix of windows, f32 (GFLOP/s)");
  std::vector<Sizes> all = AllSizes();
  all.insert(all.end(), MoreSizes().begin(), MoreSizes().end());
  for (const Sizes& sizes : all) {
    const Case c(sizes, DType::kF32);
    for (const auto& [pass, name] : kAllPasses) {
      const ConvDescription d = c.Describe(pass);
      const std::string taken = std::string(name) + (onednn::LoweredConvPays(d) ? "*" : "");
      Compare(sizes, c, pass, taken.c_str(), onednn::MakeLoweredConv(d), rounds);
    }
  }
}

void Products(int rounds) {
  PrintTitle("Outputs and gradients of inputs on matrix tiles, bf16 (GFLOP/s)");
  constexpr std::pair<Pass, const char*> kPasses[] = {{Pass::kForward, "forward"},
                                                      {Pass::kBackwardData, "data"}};
  for (const Sizes& sizes : AllSizes()) {
    const Case c(sizes, DType::kBF16);
    for (const auto& [pass, name] : kPasses) {
      const ConvDescription d = c.Describe(pass);
      const std::string taken = std::string(name) + (onednn::ImplicitGemmPays(d) ? "*" : "");
      Compare(sizes, c, pass, taken.c_str(), onednn::MakeImplicitGemm(d), rounds);
    }
  }
}

void WeightGradients(int rounds) {
  PrintTitle("Gradients of weights on matrix tiles, bf16 (GFLOP/s)");
  for (const Sizes& sizes : AllSizes()) {
    const Case c(sizes, DType::kBF16);
    const bool pays = onednn::ConvWeightGradientPays(sizes.Geometry());
    Compare(sizes, c, Pass::kBackwardWeight, pays ? "weight*" : "weight",
            onednn::MakeConvWeightGradient(c.Describe(Pass::kBackwardWeight)), rounds);
  }
}

}  // namespace
}  // namespace frugal

// bench_convolutions [rounds]: the best of so many is taken, 5 unless told.
int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 5;
  using namespace frugal::onednn;
  frugal::WinogradConvolution("Winograd's method of ours beside direct convolution, f32 (GFLOP/s)",
                              MakeWinograd, WinogradScratch, rounds);
  frugal::WinogradConvolution("oneDNN's (AVX-512) beside the same", MakeWinogradOneDnn,
                              WinogradOneDnnScratch, rounds);
  frugal::Lowered(rounds);
  frugal::Products(rounds);
  frugal::WeightGradients(rounds);
}
