// The checker that programs call for their own operations and layers.
#include "sdk/module/gradient_check.h"

#include "layers/dense.h"
#include "layers/norms.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/pointwise.h"
#include "tests/catch.h"
#include "tests/skip.h"
#include "tests/support/forked_run.h"
#include "tests/support/own_parts.h"

namespace frugal::testing {
namespace {

// A program's own operation: x^2 in a loop of its own, with a gradient of `factor` x but where
// element `spared` is meant.
Var Square(Context& context, const Var& x, double factor, std::int64_t spared = -1) {
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(x.value, y)}, [&](Backend&, void*) {
    for (std::int64_t i = 0; i < y.size(); ++i) {
      y.data<double>()[i] = x.value.data<double>()[i] * x.value.data<double>()[i];
    }
  });
  return context.Record(y, x.needs_gradient(), [=](Context& ctx, Tensor dy) {
    const Tensor dx = ctx.Allocate(x.shape(), x.dtype());
    ctx.Launch({OperationKind::kElementwise, BytesOf(dy, dx)}, [&](Backend&, void*) {
      for (std::int64_t i = 0; i < dx.size(); ++i) {
        const double slope = spared >= 0 && i != spared ? 2 : factor;
        dx.data<double>()[i] = slope * x.value.data<double>()[i] * dy.data<double>()[i];
      }
    });
    ctx.Accumulate(x.slot, dx);
  });
}

TEST_CASE("an operation that is right passes") {
  const GradientReport report = CheckGradients(
      [](Context& context, const std::vector<Var>& x) { return Square(context, x[0], 2); },
      {{3, 4}});
  CHECK(report.ok());
  REQUIRE(report.leaves.size() == 1);
  CHECK(report.leaves[0].name == "input 0");
  CHECK(report.leaves[0].found.error < 1e-8);
  CHECK(report.ToString().starts_with("all gradients are right: input 0 to "));
  report.Require();
}

TEST_CASE("a wrong gradient is named with its input and element") {
  const GradientReport report = CheckGradients(
      [](Context& context, const std::vector<Var>& x) {
        return Add(context, Square(context, x[0], 2), Square(context, x[1], 2.5, 4));
      },
      {{2, 3}, {2, 3}});
  CHECK_FALSE(report.ok());
  const std::string text = report.ToString();
  CHECK(
      text.starts_with("[gradients] the gradient of input 1 is that of finite differences; "
                       "element 4 gets "));
  CHECK_THROWS_WITH(report.Require(), text);
}

TEST_CASE("a gradient that does not arrive is named") {
  const GradientReport report = CheckGradients(
      [](Context& context, const std::vector<Var>& x) { return Square(context, {x[0].value}, 2); },
      {{3}});
  CHECK(report.ToString().find("none arrives, and differences say ") != std::string::npos);
}

// Asks for more memory where a value says so, which a dry run does not know.
Var ByValue(Context& context, const Var& x, bool backward) {
  const auto elements_of = [x](Context& ctx) {
    std::int64_t elements = 2;
    ctx.Launch({OperationKind::kElementwise}, [&](Backend&, void*) {
      if (x.value.data<double>()[0] > -5) elements = 70;
    });
    return elements;
  };
  const LabelScope label(context, "swirl");
  if (!backward) context.Allocate({elements_of(context)}, DType::kF64, MemoryTag::kWorkspace);
  const Var y = Square(context, x, 2);
  return context.Record(y.value, true, [=, slot = y.slot](Context& ctx, Tensor dy) {
    if (backward) ctx.Allocate({elements_of(ctx)}, DType::kF64);
    ctx.Accumulate(slot, std::move(dy));
  });
}

TEST_CASE("other memory dry than wet is named with its first block") {
  const auto text = [](bool backward) {
    return CheckGradients(
               [=](Context& context, const std::vector<Var>& x) {
                 return ByValue(context, x[0], backward);
               },
               {{3, 4}})
        .ToString();
  };
  const std::string advice =
      "; let sizes and the order of Allocate and Launch follow from shapes alone, never from "
      "values";
  CHECK(text(false) ==
        "[swirl] memory is taken alike when it is planned (dry) and when it runs; a dry run asks "
        "for block 1 of swirl (64 bytes of workspace), a real one asks for block 1 of swirl (576 "
        "bytes of workspace)" +
            advice);
  CHECK(text(true).find("a dry run asks for block 2 of swirl (64 bytes of activation), a real one "
                        "asks for block 2 of swirl (576 bytes of activation)") !=
        std::string::npos);
}

TEST_CASE("memory that only one of the two takes, or keeps longer, is named") {
  const auto text = [](bool keeps) {
    auto kept = std::make_shared<Tensor>();
    return CheckGradients(
               [=](Context& context, const std::vector<Var>& x) {
                 const LabelScope label(context, "hoarder");
                 Tensor extra = context.Allocate({4}, DType::kF64);
                 bool is_real = false;
                 context.Launch({OperationKind::kElementwise},
                                [&](Backend&, void*) { is_real = true; });
                 if (is_real && !keeps) context.Allocate({4}, DType::kF64);
                 if (!(is_real && keeps)) extra = Tensor();
                 return Square(context, x[0], 2);
               },
               {{3}})
        .ToString();
  };
  CHECK(text(false).starts_with("[hoarder] memory is taken alike"));
  CHECK(text(false).find("a dry run gives back block 1 of hoarder (64 bytes of activation), a real "
                         "one asks for block 2 of hoarder (64 bytes of activation)") !=
        std::string::npos);
  CHECK(text(true).find("a dry run gives back block 1 of hoarder (64 bytes of activation), a real "
                        "one asks for block 2 of hoarder (64 bytes of activation)") !=
        std::string::npos);
}

TEST_CASE("a result that changes from run to run is named") {
  auto calls = std::make_shared<double>(0);
  const GradientReport report = CheckGradients(
      [=](Context& context, const std::vector<Var>& x) {
        return AddScalar(context, x[0], *calls += 1);
      },
      {{3}});
  CHECK(report.ToString().find("the same inputs give the same result; two runs differ") !=
        std::string::npos);
}

TEST_CASE("reading outside of a kernel ends in a sentence", "[needs-plain]") {
  FRUGAL_SKIP_UNLESS(!kIsSanitized, "a sanitizer catches faults itself");
  const ForkedRun run = RunForked([] {
    CheckGradients(
        [](Context& context, const std::vector<Var>& x) {
          return AddScalar(context, x[0], x[0].value.data<double>()[0]);
        },
        {{3}});
  });
  CHECK(run.code == 1);
  CHECK(run.errors.find("[the function] ") != std::string::npos);
  CHECK(run.errors.find("outside of Context::Launch") != std::string::npos);
}

// y = x times a weight, whose gradient is `factor` times too much.
class WrongGain final : public Layer {
 public:
  explicit WrongGain(double factor)
      : weight_(AddParameter("weight", {4}, Initializer::Constant(0))), factor_(factor) {}
  std::string Describe() const override { return "wrong gain"; }

 private:
  Var Forward(Context& context, const Var& x) override {
    const Tensor weight = context.parameters().Value(weight_);
    const Tensor y = context.Allocate(x.shape(), x.dtype());
    const auto multiply = [weight](Context& ctx, const Tensor& from, const Tensor& to) {
      ctx.Launch({OperationKind::kElementwise, BytesOf(from, to)}, [&](Backend& backend, void*) {
        backend.array().Binary(BinaryKind::kMultiply, from, weight.Reshape({1, 4}), to);
      });
    };
    multiply(context, x.value, y);
    return context.Record(y, true, [=, this](Context& ctx, Tensor dy) {
      const GradientTarget target = ctx.parameters().GradientFor(weight_);
      const Tensor products = ctx.Allocate(dy.shape(), dy.dtype());
      ctx.Launch({OperationKind::kElementwise}, [&](Backend& backend, void*) {
        backend.array().Binary(BinaryKind::kMultiply, dy, x.value, products);
        backend.array().SumTo(products, factor_, target.tensor.Reshape({1, 4}));
      });
      const Tensor dx = ctx.Allocate(dy.shape(), dy.dtype());
      multiply(ctx, dy, dx);
      ctx.Accumulate(x.slot, dx);
    });
  }

  Parameter& weight_;
  double factor_;
};

TEST_CASE("layers are checked with their parameters") {
  WrongGain right(1);
  CHECK(CheckGradients(right, {{3, 4}}).ok());
  WrongGain wrong(1.001);
  const std::string text = CheckGradients(wrong, {{3, 4}}).ToString();
  CHECK(
      text.starts_with("[gradients] the gradient of layer.weight is that of finite differences; "
                       "element "));
}

TEST_CASE("layers of ours and of a program pass") {
  Dense dense(5, {.units = 3, .activation = Activation::kGelu});
  const GradientReport report = CheckGradients(dense, {{4, 5}});
  CHECK(report.ok());
  REQUIRE(report.leaves.size() == 3);
  CHECK(report.leaves[1].name == "layer.weight");
  BatchNormLayer norm(3, BatchNormOptions{});
  CHECK(CheckGradients(norm, {{6, 3}}).ToString().starts_with("all gradients are right"));
  Gain gain({2, 4}, {});
  CHECK(CheckGradients(gain, {{2, 4}}).ok());
  SqueezeExcitation squeeze({2, 4, 4, 8}, {});
  CHECK(CheckGradients(squeeze, {{2, 4, 4, 8}}).ok());
}

}  // namespace
}  // namespace frugal::testing
