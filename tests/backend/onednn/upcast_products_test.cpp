// Widened products and convolutions stand in for those of bf16 on processors without instructions
// for them. They are those of f32, bit for bit, of the same numbers, rounded once; on every
// processor.
#include "sdk/backend/onednn/matmul/upcast_products.h"

#include "sdk/backend/onednn/choose_operation.h"
#include "sdk/backend/onednn/conv/conv.h"
#include "sdk/backend/onednn/matmul/product.h"
#include "sdk/backend/onednn/operation/upcast_tensors.h"
#include "tests/backend/onednn/bf16_support.h"
#include "tests/backend/onednn/conv_support.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

struct Kernels {
  onednn::OperationCache cache{onednn::ChooseOperation};
  OneDnnProductKernels exact_product{cache};
  OneDnnConvKernels exact_conv{cache};
  onednn::UpcastProducts product{exact_product};
  onednn::UpcastConvolutions conv{exact_conv};
};

// Holds the same numbers in both types.
struct Pair {
  Tensor bf16, f32;
  Pair() = default;
  Pair(const Shape& shape, std::uint64_t seed)
      : bf16(RandomTensor(shape, seed, DType::kBF16)), f32(MakeTensor(shape, Values(bf16))) {}
  const Tensor& Of(DType dtype) const { return dtype == DType::kBF16 ? bf16 : f32; }
};

Tensor InBf16(const Tensor& f32) { return MakeTensor(f32.shape(), Values(f32), DType::kBF16); }

struct Results {
  Tensor y, dx, dweight, dbias;
};

void CheckSame(const Results& bf16, const Results& f32) {
  CHECK(SameBits(bf16.y, InBf16(f32.y)));
  CHECK(SameBits(bf16.dx, InBf16(f32.dx)));
  CHECK(SameBits(bf16.dweight, f32.dweight));
  CHECK(SameBits(bf16.dbias, f32.dbias));
}

struct ProductCase {
  std::int64_t rows, inputs, outputs;
  LinearWeight weight;
  Tensor bias;
  Pair x, dy, residual;
  LinearEpilogue epilogue;
  bool accumulate;
};

ProductCase RandomProduct(Dice& dice) {
  const std::int64_t rows = dice.Between(1, 90), inputs = dice.Between(1, 90),
                     outputs = dice.Between(1, 90);
  const bool out_in = dice.Flip();
  const Shape shape = out_in ? Shape{outputs, inputs} : Shape{inputs, outputs};
  const Shape output = {rows, outputs};
  return {rows,
          inputs,
          outputs,
          {RandomTensor(shape, dice.Seed()), out_in ? WeightLayout::kOutIn : WeightLayout::kInOut},
          dice.Flip() ? RandomTensor({outputs}, dice.Seed()) : Tensor(),
          Pair({rows, inputs}, dice.Seed()),
          Pair(output, dice.Seed()),
          dice.Flip() ? Pair(output, dice.Seed()) : Pair(),
          {dice.Flip() ? Activation::kRelu : Activation::kIdentity, 0},
          dice.Flip()};
}

Results Run(ProductKernels& kernels, const ProductCase& c, DType dtype) {
  const Tensor &x = c.x.Of(dtype), &dy = c.dy.Of(dtype);
  Results r{Uninitialized({c.rows, c.outputs}, dtype), Uninitialized({c.rows, c.inputs}, dtype),
            Full(c.weight.tensor.shape(), 0.5), Full({c.outputs}, 0.5)};
  const Scratch forward(kernels.LinearForwardScratch(x, c.weight));
  kernels.LinearForward(x, c.weight, c.bias, c.residual.Of(dtype), r.y, c.epilogue, forward.get());
  const Scratch data(kernels.LinearBackwardDataScratch(dy, c.weight));
  kernels.LinearBackwardData(dy, c.weight, r.dx, false, data.get());
  const Scratch weights(kernels.LinearBackwardWeightScratch(dy, x, c.accumulate));
  kernels.LinearBackwardWeight(dy, x, {r.dweight, c.weight.layout}, r.dbias, c.accumulate,
                               weights.get());
  CHECK((forward.GuardIsIntact() && data.GuardIsIntact() && weights.GuardIsIntact()));
  return r;
}

struct ConvolutionCase {
  ConvGeometry g;
  Tensor weight, bias;
  Pair x, dy;
  bool accumulate;
};

Results Run(ConvKernels& kernels, const ConvolutionCase& c, DType dtype) {
  const Tensor &x = c.x.Of(dtype), &dy = c.dy.Of(dtype);
  Results r{Uninitialized(OutputShape(c.g), dtype), Uninitialized(InputShape(c.g), dtype),
            Full(c.weight.shape(), 0.5), Full(c.bias.shape(), 0.5)};
  const Scratch forward(kernels.ForwardScratch(c.g, dtype));
  kernels.Forward(c.g, x, c.weight, c.bias, r.y, {Activation::kRelu, 0}, forward.get());
  const Scratch data(kernels.BackwardDataScratch(c.g, dtype));
  kernels.BackwardData(c.g, dy, c.weight, r.dx, data.get());
  const Scratch weights(kernels.BackwardWeightScratch(c.g, dtype, true, c.accumulate));
  kernels.BackwardWeight(c.g, dy, x, r.dweight, r.dbias, c.accumulate, weights.get());
  CHECK((forward.GuardIsIntact() && data.GuardIsIntact() && weights.GuardIsIntact()));
  return r;
}

}  // namespace

TEST_CASE("widened products are those of f32, rounded once") {
  Kernels k;
  Dice dice(1);
  for (int round = 0; round < 40; ++round) {
    const ProductCase c = RandomProduct(dice);
    CAPTURE(c.rows, c.inputs, c.outputs, c.accumulate);
    const Results f32 = Run(k.exact_product, c, DType::kF32);
    CheckSame(Run(k.product, c, DType::kBF16), f32);
    const Results passed = Run(k.product, c, DType::kF32);  // goes by unchanged
    CHECK(SameBits(passed.y, f32.y));
    CHECK(SameBits(passed.dx, f32.dx));
  }
  CHECK(k.product.PackedWeightBytes(LinearWeight(Uninitialized({8, 8}))) == 0);
}

TEST_CASE("widened products of many rows go in blocks, and add up their sums") {
  Kernels k;
  Dice dice(3);
  for (const std::int64_t rows : {512, 513, 1200}) {
    ProductCase c = RandomProduct(dice);
    c.rows = rows;
    c.x = Pair({rows, c.inputs}, dice.Seed());
    c.dy = Pair({rows, c.outputs}, dice.Seed());
    c.residual = Pair({rows, c.outputs}, dice.Seed());
    for (const bool accumulate : {false, true}) {
      c.accumulate = accumulate;
      const Results f32 = Run(k.exact_product, c, DType::kF32);
      const Results bf16 = Run(k.product, c, DType::kBF16);
      CHECK(RelativeError(bf16.y, f32.y) < kBf16);
      CHECK(RelativeError(bf16.dx, f32.dx) < kBf16);
      CHECK(RelativeError(bf16.dweight, f32.dweight) < kBf16Sums);
      CHECK(RelativeError(bf16.dbias, f32.dbias) < kBf16Sums);
    }
  }
  const Tensor wide = Uninitialized({4096, 64}, DType::kBF16);
  const LinearWeight weight(Uninitialized({512, 64}));
  CHECK(k.product.LinearForwardScratch(wide, weight) < 4 << 20);  // of all rows: 17 MB
  const LinearWeight vocabulary(Uninitialized({60000, 16}));
  CHECK(k.product.LinearForwardScratch(Uninitialized({512, 16}, DType::kBF16), vocabulary) <
        40 << 20);
}

TEST_CASE("widened products of nothing are nothing, and their sums zero") {
  Kernels k;
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const Tensor x = Uninitialized({0, 3}, dtype), dy = Uninitialized({0, 2}, dtype);
    const LinearWeight weight(RandomTensor({2, 3}, 1));
    const Tensor dweight = Uninitialized({2, 3}), dbias = Uninitialized({2});
    const Scratch scratch(k.product.LinearBackwardWeightScratch(dy, x, false));
    k.product.LinearForward(x, weight, {}, {}, dy, {}, scratch.get());
    k.product.LinearBackwardData(dy, weight, x, false, scratch.get());
    k.product.LinearBackwardWeight(dy, x, {dweight}, dbias, false, scratch.get());
    CHECK(SameBits(dweight, Full({2, 3}, 0)));
    CHECK(SameBits(dbias, Full({2}, 0)));
  }
}

TEST_CASE("widened convolutions are those of f32, rounded once") {
  Kernels k;
  Dice dice(2);
  for (int round = 0; round < 20; ++round) {
    const ConvGeometry g = RandomConvolution(dice);
    const ConvolutionCase c{g,
                            RandomTensor(WeightShape(g), dice.Seed()),
                            RandomTensor({g.output_channels}, dice.Seed()),
                            Pair(InputShape(g), dice.Seed()),
                            Pair(OutputShape(g), dice.Seed()),
                            dice.Flip()};
    const Results f32 = Run(k.exact_conv, c, DType::kF32);
    CheckSame(Run(k.conv, c, DType::kBF16), f32);
  }
}

TEST_CASE("widened convolutions of many images go in blocks, and add up their sums") {
  Kernels k;
  Dice dice(4);
  const ConvGeometry g = ImageConvolution({.batch = 9, .extent = 128, .inputs = 16, .outputs = 30});
  for (const bool accumulate : {false, true}) {
    const ConvolutionCase c{g,
                            RandomTensor(WeightShape(g), dice.Seed()),
                            RandomTensor({g.output_channels}, dice.Seed()),
                            Pair(InputShape(g), dice.Seed()),
                            Pair(OutputShape(g), dice.Seed()),
                            accumulate};
    const Results f32 = Run(k.exact_conv, c, DType::kF32);
    const Results bf16 = Run(k.conv, c, DType::kBF16);
    CHECK(RelativeError(bf16.y, f32.y) < kBf16);
    CHECK(RelativeError(bf16.dx, f32.dx) < kBf16);
    CHECK(RelativeError(bf16.dweight, f32.dweight) < kBf16Sums);
    CHECK(RelativeError(bf16.dbias, f32.dbias) < kBf16Sums);
  }
}

TEST_CASE("widened tensors lie one after another in scratch") {
  const Pair x({3, 7}, 1);
  const Tensor memory = ScratchOf(1024);
  onednn::UpcastTensors tensors(memory.raw());
  const Tensor wide = tensors.CastToF32(x.bf16);
  CHECK(SameBits(wide, x.f32));
  CHECK(wide.raw() == memory.raw());
  CHECK(tensors.bytes() == 128);  // 84, rounded up
  CHECK(tensors.Take({2}).raw() == static_cast<std::byte*>(memory.raw()) + 128);
  CHECK(tensors.Rest() == static_cast<std::byte*>(memory.raw()) + 192);
  CHECK_FALSE(tensors.CastToF32(Tensor()));
  const Tensor back = Uninitialized({3, 7}, DType::kBF16);
  onednn::DowncastInto(back, wide);
  CHECK(SameBits(back, x.bf16));
}
