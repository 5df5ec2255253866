#include <algorithm>

#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/matmul.h"
#include "sdk/ops/reduce.h"
#include "sdk/ops/shape_ops.h"
#include "tests/oracles/attribute_text.h"
#include "tests/oracles/operation_table.h"
#include "tests/support/tensors.h"

namespace frugal::oracles {
namespace {

Var RunMatMul(OracleRun& run) {
  const Var a = run.Input("a");
  return MatMul(run.context(), a, run.Input("b"));
}

template <BinaryKind kind>
Var RunArithmetic(OracleRun& run) {
  const Var a = run.Input("a");
  return Arithmetic(run.context(), kind, a, run.Input("b"));
}

// |b| + 1, as b times its sign, which is 0 at 0 as PyTorch's gradient is.
Var AwayFromZero(Context& context, const Var& b) {
  std::vector<double> signs = testing::Values(b.value);
  for (double& value : signs) value = value > 0 ? 1 : value < 0 ? -1 : 0;
  const Var sign = Fixed(testing::MakeTensor(b.shape(), signs, b.value.dtype()));
  const Var one = Fixed(testing::Full({1}, 1, b.value.dtype()));
  return Arithmetic(context, BinaryKind::kAdd, Arithmetic(context, BinaryKind::kMultiply, b, sign),
                    one);
}

Var RunDivide(OracleRun& run) {
  const Var a = run.Input("a");
  const Var b = run.Input("b");
  const std::string note = run.attributes().value("note", "");
  const bool shifted = note.find("|b| + 1") != std::string::npos;
  return Arithmetic(run.context(), BinaryKind::kDivide, a,
                    shifted ? AwayFromZero(run.context(), b) : b);
}

// The axes that were summed stay or vanish; what has no axis left is [1].
Var RunSum(OracleRun& run) {
  const Var input = run.Input("input");
  const Var sum = Sum(run.context(), input, AxesAttribute(run.attributes(), input.shape().rank()),
                      1, run.attributes().value("keepdim", false));
  return sum.shape().rank() == 0 ? Reshape(run.context(), sum, {1}) : sum;
}

Var RunMean(OracleRun& run) {
  const Var input = run.Input("input");
  const Var mean = Mean(run.context(), input, AxesAttribute(run.attributes(), input.shape().rank()),
                        run.attributes().value("keepdim", false));
  return mean.shape().rank() == 0 ? Reshape(run.context(), mean, {1}) : mean;
}

// The cases divide by n where they say nothing; PyTorch's own default would be n - 1.
Var RunVariance(OracleRun& run) {
  const Var input = run.Input("input");
  const std::int64_t unbiased = run.attributes().value("unbiased", false) ? 1 : 0;
  const std::vector<std::int64_t> axes = AxesAttribute(run.attributes(), input.shape().rank());
  const Var variance =
      Variance(run.context(), input, axes, run.attributes().value("correction", unbiased));
  Shape shape = variance.shape().rank() == 0 ? Shape{1} : variance.shape();
  if (run.attributes().value("keepdim", false)) {
    shape = input.shape();
    for (const std::int64_t axis : axes) shape[static_cast<std::size_t>(axis)] = 1;
  }
  return Reshape(run.context(), variance, shape);
}

Var RunConcat(OracleRun& run) {
  std::vector<Var> parts;
  for (const std::string& name : run.inputs()) parts.push_back(run.Input(name));
  return Concat(run.context(), parts, run.attributes().at("axis"));
}

Var RunPad(OracleRun& run) {
  if (run.attributes().value("mode", "constant") != "constant") {
    RefuseAttribute(run, "padding is with one value");
  }
  const Var input = run.Input("input");
  const Pads pads = ParsePads(run.attributes().at("pads"), input.shape().rank());
  return Pad(run.context(), input, pads.before, pads.after, run.attributes().value("value", 0.0));
}

Var RunSlice(OracleRun& run) {
  const Var input = run.Input("input");
  const Slices slices = ParseSlices(run.attributes().at("slices"), input.shape());
  const Var box = Slice(run.context(), input, slices.ranges);
  if (slices.vanishing.empty()) return box;
  std::vector<std::int64_t> left;
  for (std::size_t axis = 0; axis < box.shape().rank(); ++axis) {
    const auto number = static_cast<std::int64_t>(axis);
    if (std::ranges::find(slices.vanishing, number) == slices.vanishing.end()) {
      left.push_back(box.shape()[axis]);
    }
  }
  return Reshape(run.context(), box, left.empty() ? Shape{1} : Shape(left));
}

Var RunTranspose(OracleRun& run) {
  const Var input = run.Input("input");
  return Permute(run.context(), input,
                 Shape(AxesAttribute(run.attributes(), input.shape().rank())));
}

}  // namespace

OperationTable ArrayOperations() {
  return {
      {"matmul", RunMatMul},
      {"add", RunArithmetic<BinaryKind::kAdd>},
      {"subtract", RunArithmetic<BinaryKind::kSubtract>},
      {"multiply", RunArithmetic<BinaryKind::kMultiply>},
      {"divide", RunDivide},
      {"sum", RunSum},
      {"mean", RunMean},
      {"variance", RunVariance},
      {"concat", RunConcat},
      {"pad", RunPad},
      {"slice", RunSlice},
      {"transpose", RunTranspose},
  };
}

}  // namespace frugal::oracles
