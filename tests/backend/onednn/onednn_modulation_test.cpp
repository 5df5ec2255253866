#include "sdk/backend/onednn/norm/modulation.h"
#include "tests/backend/onednn/bf16_support.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

// Holds what one call of every kernel reads, in one element type; weight and bias are exact.
struct Inputs {
  Tensor x, dy, residual, shift, scale, weight, bias;
  bool accumulate = false;

  Inputs In(DType dtype) const {
    const auto as = [&](const Tensor& t, DType type) {
      return t ? MakeTensor(t.shape(), Values(t), type) : Tensor();
    };
    const DType exact = MasterType(dtype);
    return {as(x, dtype),     as(dy, dtype),     as(residual, dtype), as(shift, dtype),
            as(scale, dtype), as(weight, exact), as(bias, exact),     accumulate};
  }
};

Inputs RandomInputs(const Shape& shape, DType dtype, Dice& dice) {
  const Shape part{shape[0], shape.back()}, row{shape.back()};
  const double center = dice.Flip() ? 8 : 0;
  return {RandomTensor(shape, dice.Seed(), dtype, center - 1, center + 1),
          RandomTensor(shape, dice.Seed(), dtype),
          RandomTensor(shape, dice.Seed(), dtype),
          dice.Flip() ? RandomTensor(part, dice.Seed(), dtype) : Tensor(),
          RandomTensor(part, dice.Seed(), dtype),
          dice.Flip() ? RandomTensor(row, dice.Seed(), DType::kF32, 0.5, 2) : Tensor(),
          dice.Flip() ? RandomTensor(row, dice.Seed()) : Tensor(),
          dice.Flip()};
}

// Results by name, so that a failure says which.
struct Result {
  const char* name;
  Tensor value;
};

Tensor Sums(const Shape& shape, DType dtype, bool accumulate) {
  return accumulate ? Full(shape, 0.5, dtype) : Uninitialized(shape, dtype);
}

std::vector<Result> RunAll(ModulationKernels& kernels, const Inputs& in) {
  const DType dtype = in.x.dtype(), exact = MasterType(dtype);
  const Shape &shape = in.x.shape(), part = in.scale.shape(), row = {shape.back()};
  const auto whole = [&] { return Uninitialized(shape, dtype); };
  const auto parts = [&] { return Uninitialized(part, dtype); };
  const Tensor y = whole(), dx = whole(), dshift = parts(), dscale = parts();
  const Scratch scratch(kernels.ModulateScratch(in.x));
  kernels.Modulate(in.x, in.shift, in.scale, y, scratch.get());
  kernels.ModulateBackward(in.dy, in.x, in.scale, dx, dshift, dscale, scratch.get());
  CHECK(scratch.GuardIsIntact());

  const Tensor gated = whole(), gated_dx = whole(), dgate = parts();
  const Scratch gate_scratch(kernels.GatedAddScratch(in.x));
  kernels.GatedAdd(in.x, in.scale, in.residual, gated, gate_scratch.get());
  kernels.GatedAddBackward(in.dy, in.x, in.scale, gated_dx, dgate, gate_scratch.get());
  CHECK(gate_scratch.GuardIsIntact());

  const Tensor normal = whole(), mean = Uninitialized({shape.RowCount()}, exact);
  const Tensor rstd = Uninitialized({shape.RowCount()}, exact);
  const ModulationKernels::LayerParts layer{in.weight, in.bias, in.shift, in.scale};
  const ModulationKernels::LayerGradients g{whole(),
                                            Sums(row, exact, in.accumulate),
                                            Sums(row, exact, in.accumulate),
                                            parts(),
                                            parts(),
                                            in.accumulate};
  const Scratch layer_scratch(kernels.LayerScratch(in.x));
  kernels.LayerForward(in.x, layer, 1e-3, normal, mean, rstd, layer_scratch.get());
  kernels.LayerBackward(in.dy, in.x, mean, rstd, layer, g, layer_scratch.get());
  CHECK(layer_scratch.GuardIsIntact());
  return {{"y", y},
          {"dx", dx},
          {"dshift", dshift},
          {"dscale", dscale},
          {"gated", gated},
          {"gated dx", gated_dx},
          {"dgate", dgate},
          {"normal", normal},
          {"layer dx", g.x},
          {"dweight", g.weight},
          {"dbias", g.bias},
          {"layer dshift", g.shift},
          {"layer dscale", g.scale}};
}

void CheckClose(const std::vector<Result>& fast, const std::vector<Result>& reference,
                double tolerance) {
  for (std::size_t i = 0; i < fast.size(); ++i) {
    INFO(fast[i].name);
    CHECK(RelativeError(fast[i].value, reference[i].value) < tolerance);
  }
}

Shape RandomShape(Dice& dice) {
  const std::int64_t batch = dice.Between(1, 80), features = dice.Between(2, 300);
  if (dice.Flip()) return {batch, features};
  return {dice.Between(1, 5), dice.Between(1, 90), features};
}

TEST_CASE("onednn modulation agrees with the reference", "[backend][modulation]") {
  OneDnnModulationKernels fast;
  EigenModulationKernels reference;
  Dice dice(11);
  for (int round = 0; round < 2 * kRepeats; ++round) {
    const Shape shape = RandomShape(dice);
    INFO(ToString(shape));
    const Inputs in = RandomInputs(shape, DType::kF32, dice);
    CheckClose(RunAll(fast, in), RunAll(reference, in.In(DType::kF64)), kGradient);
  }
}

TEST_CASE("bf16 modulation agrees with f64 on the same numbers", "[backend][modulation]") {
  OneDnnModulationKernels fast;
  EigenModulationKernels reference;
  Dice dice(12);
  for (int round = 0; round < kRepeats; ++round) {
    const Shape shape = RandomShape(dice);
    INFO(ToString(shape));
    const Inputs in = RandomInputs(shape, DType::kBF16, dice);
    CheckClose(RunAll(fast, in), RunAll(reference, in.In(DType::kF64)), 2 * kBf16);
  }
}

TEST_CASE("modulation gives the same bits again and on any number of threads",
          "[backend][modulation]") {
  OneDnnModulationKernels fast;
  Dice dice(13);
  const Inputs in = RandomInputs({3, 700, 96}, DType::kF32, dice);
  const int before = ThreadCount();
  SetThreadCount(1);
  const auto one = RunAll(fast, in);
  SetThreadCount(3);
  const auto three = RunAll(fast, in);
  SetThreadCount(before);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(SameBits(one[i].value, three[i].value));
}

TEST_CASE("gradients of modulation may take the place of dy", "[backend][modulation]") {
  OneDnnModulationKernels fast;
  EigenModulationKernels reference;
  Dice dice(14);
  const Inputs in = RandomInputs({3, 40, 24}, DType::kF32, dice);
  for (ModulationKernels* kernels :
       {static_cast<ModulationKernels*>(&fast), static_cast<ModulationKernels*>(&reference)}) {
    const auto apart = RunAll(*kernels, in);
    const Scratch scratch(kernels->ModulateScratch(in.x));
    const Tensor dx = Clone(in.dy), dscale = Uninitialized(in.scale.shape());
    kernels->ModulateBackward(dx, in.x, in.scale, dx, {}, dscale, scratch.get());
    CHECK(SameBits(dx, apart[1].value));
    CHECK(SameBits(dscale, apart[3].value));
    const Tensor gated = Clone(in.dy);
    kernels->GatedAddBackward(gated, in.x, in.scale, gated, {}, scratch.get());
    CHECK(SameBits(gated, apart[5].value));
  }
}

}  // namespace
