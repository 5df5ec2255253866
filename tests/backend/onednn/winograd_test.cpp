#include "sdk/backend/onednn/conv/winograd.h"

#include <cmath>
#include <vector>

#include "sdk/backend/onednn/conv/winograd_onednn.h"
#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::onednn;
using namespace frugal::testing;

namespace {

constexpr std::int64_t kPlenty = 256 << 20;  // of scratch

// oneDNN's Winograd's method, or ours.
struct Way {
  std::unique_ptr<Operation> (*make)(const ConvDescription&, std::int64_t);
  std::int64_t (*scratch)(const ConvGeometry&);

  std::unique_ptr<Operation> Make(const ConvDescription& d, std::int64_t most) const {
    return make(d, most);
  }
  bool Takes(const ConvDescription& d) const { return make(d, kPlenty) != nullptr; }
};

// Those that this machine has.
std::vector<Way> Ways() {
  std::vector<Way> ways = {{MakeWinograd, WinogradScratch}};
  if (HasWinogradOneDnn()) {
    ways.push_back({MakeWinogradOneDnn, WinogradOneDnnScratch});
  } else {
    WARN("oneDNN has its own in version 2 and for AVX-512 alone");
  }
  return ways;
}

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

// Within nine tenths of what all at once take, or half, where there are parts so small.
std::unique_ptr<Operation> MakeInParts(const Way& way, const ConvDescription& d, int parts) {
  auto all = way.Make(d, kPlenty);
  REQUIRE(all);
  if (parts == 1) return all;
  auto less = way.Make(d, all->ScratchBytes() * (parts == 2 ? 9 : 5) / 10);
  return less ? std::move(less) : std::move(all);
}

void Run(const Way& way, const ConvDescription& d, int parts,
         std::initializer_list<Argument> arguments) {
  const auto operation = MakeInParts(way, d, parts);
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

void CheckForward(Backends& b, const Case& c, const Way& way, int parts) {
  const ConvDescription d = DescribeConv(c.sizes, Pass::kForward, c.bias, false, c.relu);
  const Tensor y = Full(c.dy.shape(), NAN), expected = Full(c.dy.shape(), NAN);
  const Scratch scratch(b.reference->conv().ForwardScratch(d.geometry, DType::kF32));
  b.reference->conv().Forward(d.geometry, c.x, c.weight, c.b, expected, d.epilogue, scratch.get());
  Run(way, d, parts,
      {{Slot::kSource, c.x.raw()},
       {Slot::kWeight, c.weight.raw()},
       {Slot::kBias, c.b.raw()},
       {Slot::kDestination, y.raw()}});
  CHECK(RelativeError(y, expected) < kForward);
}

void CheckBackwardData(Backends& b, const Case& c, const Way& way, int parts) {
  const ConvDescription d = DescribeConv(c.sizes, Pass::kBackwardData, false, false, false);
  const Tensor dx = Full(c.x.shape(), NAN), expected = Full(c.x.shape(), NAN);
  const Scratch scratch(b.reference->conv().BackwardDataScratch(d.geometry, DType::kF32));
  b.reference->conv().BackwardData(d.geometry, c.dy, c.weight, expected, scratch.get());
  Run(way, d, parts,
      {{Slot::kDestinationGradient, c.dy.raw()},
       {Slot::kWeight, c.weight.raw()},
       {Slot::kSourceGradient, dx.raw()}});
  CHECK(RelativeError(dx, expected) < kForward);
}

void CheckBackwardWeight(Backends& b, const Case& c, const Way& way, int parts) {
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
  Run(way, d, parts,
      {{Slot::kSource, c.x.raw()},
       {Slot::kDestinationGradient, c.dy.raw()},
       {Slot::kWeightGradient, dweight.raw()},
       {Slot::kBiasGradient, dbias.raw()}});
  CHECK(RelativeError(dweight, expected) < kForward);
  if (c.bias) CHECK(RelativeError(dbias, expected_bias) < kForward);
}

void Check(Backends& b, const Case& c, const Way& way, int parts) {
  CAPTURE(c.sizes.batch, c.sizes.height, c.sizes.width, c.sizes.in, c.sizes.out, c.bias,
          c.accumulate, c.relu, parts);
  CheckForward(b, c, way, parts);
  CheckBackwardData(b, c, way, parts);
  CheckBackwardWeight(b, c, way, parts);
}

}  // namespace

TEST_CASE(
    "convolutions by Winograd's method are within 1e-5 of the reference, all at once or in parts") {
  Backends b;
  Dice dice(1);
  const Sizes sizes[] = {
      {33, 8, 8, 64, 64}, {9, 16, 16, 64, 80}, {19, 15, 20, 96, 64}, {33, 8, 8, 256, 512}};
  for (const Way& way : Ways()) {
    for (const Sizes& s : sizes) {
      const Case c(s, dice);
      // The last part is smaller than the others.
      for (const int parts : {1, 2, 3}) Check(b, c, way, parts);
    }
  }
}

TEST_CASE("our Winograd's method has the same bits with any number of threads") {
  Dice dice(2);
  const Case c({19, 15, 20, 80, 96}, dice);
  const auto bits = [&](Pass pass, const Tensor& like, int threads) {
    SetThreadCount(threads);
    const auto operation = MakeWinograd(DescribeConv(c.sizes, pass, false, false, false), kPlenty);
    REQUIRE(operation);
    const Scratch scratch(operation->ScratchBytes());
    Tensor result = Full(like.shape(), NAN);
    const bool weight = pass == Pass::kBackwardWeight;
    operation->Run({{Slot::kSource, c.x.raw()},
                    {Slot::kWeight, c.weight.raw()},
                    {Slot::kDestination, result.raw()},
                    {Slot::kDestinationGradient, c.dy.raw()},
                    {Slot::kSourceGradient, result.raw()},
                    {Slot::kWeightGradient, weight ? result.raw() : nullptr}},
                   scratch.get());
    return result;
  };
  const int before = ThreadCount();
  const std::pair<Pass, const Tensor*> passes[] = {
      {Pass::kForward, &c.dy}, {Pass::kBackwardData, &c.x}, {Pass::kBackwardWeight, &c.weight}};
  for (const auto& [pass, like] : passes) {
    const Tensor one = bits(pass, *like, 1);
    for (const int threads : {2, 3}) CHECK(SameBits(one, bits(pass, *like, threads)));
  }
  SetThreadCount(before);
}

TEST_CASE("our Winograd's method with a relu hides nothing that is not a number") {
  Dice dice(4);
  const Case c({16, 8, 8, 64, 64}, dice);
  c.x.data<float>()[0] = NAN;
  const auto operation =
      MakeWinograd(DescribeConv(c.sizes, Pass::kForward, false, false, true), kPlenty);
  REQUIRE(operation);
  const Scratch scratch(operation->ScratchBytes());
  const Tensor y = Full(c.dy.shape(), 0);
  operation->Run(
      {{Slot::kSource, c.x.raw()}, {Slot::kWeight, c.weight.raw()}, {Slot::kDestination, y.raw()}},
      scratch.get());
  CHECK(std::isnan(y.data<float>()[0]));
}

TEST_CASE("our Winograd's method is within 1e-5 of the reference over random sizes") {
  Backends b;
  Dice dice(3);
  const Way ours = {MakeWinograd, WinogradScratch};
  int taken = 0;
  for (int i = 0; i < 5 * kRepeats; ++i) {
    const Sizes sizes{dice.Between(1, 20), dice.Between(4, 20), dice.Between(4, 20),
                      16 * dice.Between(2, 7), 16 * dice.Between(2, 7)};
    if (!ours.Takes(DescribeConv(sizes, Pass::kForward, false, false, false))) continue;
    Check(b, Case(sizes, dice), ours, static_cast<int>(dice.Between(1, 3)));
    ++taken;
  }
  CHECK(taken >= kRepeats);
}

TEST_CASE(
    "convolutions with any fused activation have scratch enough where Winograd's method pays") {
  Backends b;
  const ConvGeometry g = Sizes{64, 16, 16, 64, 64}.Geometry();
  for (const Way& way : Ways()) {
    const auto plain = DescribeConv({64, 16, 16, 64, 64}, Pass::kForward, false, false, false);
    const auto all = way.Make(plain, way.scratch(g));
    REQUIRE(all);
    CHECK(way.Make(plain, all->ScratchBytes() * 9 / 10));
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

TEST_CASE("Winograd's method is for dense 3 x 3 windows over enough channels and pixels, in f32") {
  const ConvDescription good =
      DescribeConv({16, 8, 8, 64, 64}, Pass::kForward, false, false, false);
  for (const Way& way : Ways()) {
    CHECK(way.Takes(good));
    ConvDescription d = good;
    d.dtype = DType::kBF16;
    CHECK_FALSE(way.Takes(d));
    d = good;
    d.geometry.window.stride = {1, 2, 2};
    d.geometry.window.output = {1, 4, 4};
    CHECK_FALSE(way.Takes(d));
    d = good;
    d.geometry.window.padding_begin = {0, 2, 2};
    d.geometry.window.padding_end = {0, 0, 0};
    CHECK_FALSE(way.Takes(d));
    d = good;
    d.geometry.groups = 2;
    CHECK_FALSE(way.Takes(d));
    d = good;
    d.epilogue.activation = Activation::kTanh;
    CHECK_FALSE(way.Takes(d));
    for (const Sizes& few :
         {Sizes{16, 8, 8, 16, 64}, {16, 8, 8, 64, 72}, {1, 8, 8, 64, 64}, {64, 5, 5, 64, 64}}) {
      CHECK_FALSE(way.Takes(DescribeConv(few, Pass::kForward, false, false, false)));
    }
    for (const Pass pass : {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeight}) {
      CHECK_FALSE(way.Make(DescribeConv({16, 8, 8, 64, 64}, pass, false, false, false), 1 << 10));
    }
  }
}
