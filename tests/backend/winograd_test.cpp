#include "sdk/backend/onednn/winograd.h"

#include "sdk/backend/onednn/simd/cpu_features.h"
#include "tests/backend/onednn_support.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::onednn;
using namespace frugal::test;

namespace {

bool HasMinimalFiltering() {
  const bool has = simd::BestInstructionSet() == simd::InstructionSet::kAvx512;
  if (!has) WARN("oneDNN has it for AVX-512 alone");
  return has;
}

constexpr std::int64_t kPlenty = 256 << 20;  // of scratch

struct Sizes {
  std::int64_t batch, height, width, in, out;

  ConvGeometry Geometry() const {
    ConvGeometry g;
    g.window.batch = batch;
    g.window.input = g.window.output = {1, height, width};
    g.window.kernel = {1, 3, 3};
    g.window.padding_begin = g.window.padding_end = {0, 1, 1};
    g.input_channels = in;
    g.output_channels = out;
    return g;
  }
};

ConvDescription DescribeConv(const Sizes& s, Pass pass, bool bias, bool accumulate, bool relu) {
  ConvDescription d;
  d.geometry = s.Geometry();
  d.pass = pass;
  d.bias = bias;
  d.accumulate = accumulate;
  if (relu) d.epilogue.activation = Activation::kRelu;
  return d;
}

// Nine tenths of what all samples at once take.
std::int64_t LessScratch(const ConvDescription& d) {
  const auto all = MakeWinograd(d, kPlenty);
  REQUIRE(all);
  return all->ScratchBytes() * 9 / 10;
}

void Run(const ConvDescription& d, bool in_parts, std::initializer_list<Argument> arguments) {
  const auto operation = MakeWinograd(d, in_parts ? LessScratch(d) : kPlenty);
  REQUIRE(operation);
  const Scratch scratch(operation->ScratchBytes());
  operation->Run(arguments, scratch.get());
  CHECK(scratch.GuardIsIntact());
}

struct Case {
  Sizes sizes;
  bool bias, accumulate, relu;
  Tensor x, weight, b, dy;

  Case(const Sizes& s, Dice& dice)
      : sizes(s),
        bias(dice.Flip()),
        accumulate(dice.Flip()),
        relu(dice.Flip()),
        x(RandomTensor({s.batch, 1, s.height, s.width, s.in}, dice.Seed())),
        weight(RandomTensor({s.out, s.in, 1, 3, 3}, dice.Seed())),
        b(bias ? RandomTensor({s.out}, dice.Seed()) : Tensor()),
        dy(RandomTensor({s.batch, 1, s.height, s.width, s.out}, dice.Seed())) {}
};

void CheckForward(Backends& b, const Case& c, bool in_parts) {
  const ConvDescription d = DescribeConv(c.sizes, Pass::kForward, c.bias, false, c.relu);
  const Tensor y = Full(c.dy.shape(), NAN), expected = Full(c.dy.shape(), NAN);
  const Scratch scratch(b.reference->conv().ForwardScratch(d.geometry, DType::kF32));
  b.reference->conv().Forward(d.geometry, c.x, c.weight, c.b, expected, d.epilogue, scratch.get());
  Run(d, in_parts,
      {{Slot::kSource, c.x.raw()},
       {Slot::kWeight, c.weight.raw()},
       {Slot::kBias, c.b.raw()},
       {Slot::kDestination, y.raw()}});
  CHECK(RelativeError(y, expected) < kForward);
}

void CheckBackwardData(Backends& b, const Case& c, bool in_parts) {
  const ConvDescription d = DescribeConv(c.sizes, Pass::kBackwardData, false, false, false);
  const Tensor dx = Full(c.x.shape(), NAN), expected = Full(c.x.shape(), NAN);
  const Scratch scratch(b.reference->conv().BackwardDataScratch(d.geometry, DType::kF32));
  b.reference->conv().BackwardData(d.geometry, c.dy, c.weight, expected, scratch.get());
  Run(d, in_parts,
      {{Slot::kDestinationGradient, c.dy.raw()},
       {Slot::kWeight, c.weight.raw()},
       {Slot::kSourceGradient, dx.raw()}});
  CHECK(RelativeError(dx, expected) < kForward);
}

void CheckBackwardWeight(Backends& b, const Case& c, bool in_parts) {
  const ConvDescription d =
      DescribeConv(c.sizes, Pass::kBackwardWeight, c.bias, c.accumulate, false);
  const double before = c.accumulate ? 0.5 : NAN;
  const auto start = [&](const Tensor& like) {
    return like ? Full(like.shape(), before) : Tensor();
  };
  const Tensor dweight = start(c.weight), dbias = start(c.b);
  const Tensor expected = start(c.weight), expected_bias = start(c.b);
  auto& conv = b.reference->conv();
  const Scratch scratch(conv.BackwardWeightScratch(d.geometry, DType::kF32, c.bias, c.accumulate));
  conv.BackwardWeight(d.geometry, c.dy, c.x, expected, expected_bias, c.accumulate, scratch.get());
  Run(d, in_parts,
      {{Slot::kSource, c.x.raw()},
       {Slot::kDestinationGradient, c.dy.raw()},
       {Slot::kWeightGradient, dweight.raw()},
       {Slot::kBiasGradient, dbias.raw()}});
  CHECK(RelativeError(dweight, expected) < kForward);
  if (c.bias) CHECK(RelativeError(dbias, expected_bias) < kForward);
}

void Check(Backends& b, const Case& c, bool in_parts) {
  CAPTURE(c.sizes.batch, c.sizes.height, c.sizes.width, c.sizes.in, c.sizes.out, c.bias,
          c.accumulate, c.relu, in_parts);
  CheckForward(b, c, in_parts);
  CheckBackwardData(b, c, in_parts);
  CheckBackwardWeight(b, c, in_parts);
}

bool Takes(const ConvDescription& d) { return MakeWinograd(d, kPlenty) != nullptr; }

}  // namespace

TEST_CASE(
    "convolutions by minimal filtering are within 1e-5 of the reference, all at once or in "
    "parts of the batch") {
  Backends b;
  Dice dice(1);
  if (!HasMinimalFiltering()) return;
  const Sizes sizes[] = {
      {33, 8, 8, 64, 64}, {9, 16, 16, 64, 80}, {19, 15, 20, 96, 64}, {33, 8, 8, 256, 512}};
  for (const Sizes& s : sizes) {
    const Case c(s, dice);
    Check(b, c, false);
    Check(b, c, true);  // the last part is smaller than the others
  }
}

TEST_CASE(
    "convolutions with any fused activation have scratch enough where minimal filtering pays") {
  Backends b;
  const ConvGeometry g = Sizes{64, 16, 16, 64, 64}.Geometry();
  if (HasMinimalFiltering()) {
    const auto plain = DescribeConv({64, 16, 16, 64, 64}, Pass::kForward, false, false, false);
    CHECK(MakeWinograd(plain, WinogradScratch(g)));
  }
  const Tensor x = RandomTensor({64, 1, 16, 16, 64}, 1),
               weight = RandomTensor({64, 64, 1, 3, 3}, 2);
  for (const Activation kind : {Activation::kIdentity, Activation::kRelu, Activation::kLeakyRelu,
                                Activation::kElu, Activation::kSigmoid, Activation::kTanh}) {
    const LinearEpilogue epilogue{kind, DefaultParameter(kind)};
    const Tensor y = Full(x.shape(), NAN), expected = Full(x.shape(), NAN);
    const Scratch scratch(b.fast->conv().ForwardScratch(g, DType::kF32));
    const Scratch plain(b.reference->conv().ForwardScratch(g, DType::kF32));
    b.fast->conv().Forward(g, x, weight, {}, y, epilogue, scratch.get());
    b.reference->conv().Forward(g, x, weight, {}, expected, epilogue, plain.get());
    CHECK(RelativeError(y, expected) < kForward);
    CHECK(scratch.GuardIsIntact());
  }
}

TEST_CASE("minimal filtering is for dense 3 x 3 windows over enough channels and pixels, in f32") {
  const Sizes s{16, 8, 8, 64, 64};
  const ConvDescription good = DescribeConv(s, Pass::kForward, false, false, false);
  if (!HasMinimalFiltering()) return;
  CHECK(Takes(good));
  ConvDescription d = good;
  d.dtype = DType::kBF16;
  CHECK_FALSE(Takes(d));
  d = good;
  d.geometry.window.stride = {1, 2, 2};
  d.geometry.window.output = {1, 4, 4};
  CHECK_FALSE(Takes(d));
  d = good;
  d.geometry.window.padding_begin = {0, 2, 2};
  d.geometry.window.padding_end = {0, 0, 0};
  CHECK_FALSE(Takes(d));
  d = good;
  d.geometry.groups = 2;
  CHECK_FALSE(Takes(d));
  for (const Sizes& few :
       {Sizes{16, 8, 8, 32, 64}, {16, 8, 8, 64, 72}, {3, 8, 8, 64, 64}, {64, 5, 5, 64, 64}}) {
    CHECK_FALSE(Takes(DescribeConv(few, Pass::kForward, false, false, false)));
  }
  CHECK_FALSE(MakeWinograd(good, 1 << 10));
}
