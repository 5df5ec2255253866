#include "layers/attention.h"

#include "sdk/core/error.h"
#include "tests/ops/gradient_model.h"
#include "tests/support/layer_cases.h"

// The tests that every layer passes are in layers_test, with attention in several forms.
namespace frugal::testing {
namespace {

constexpr std::int64_t kFeatures = 8;

AttentionLayerOptions Wide(AttentionLayerOptions options) {
  options.init_std = options.output_init_std = 0.5;
  return options;
}

std::unique_ptr<AttentionLayer> MadeAttention(const AttentionLayerOptions& options,
                                              std::int64_t memory_features = 0) {
  auto layer =
      std::make_unique<AttentionLayer>(kFeatures, Wide(options), AttentionNames{}, memory_features);
  layer->AssignPaths("net");
  NumberParameters(*layer);
  return layer;
}

std::vector<OutsideLeaf> LeavesOf(TestEnvironment& environment, Layer& layer) {
  std::vector<OutsideLeaf> leaves;
  for (const Parameter* parameter : layer.Parameters())
    leaves.push_back(LeafOf(environment, *parameter));
  return leaves;
}

void CheckGradients(AttentionLayer& layer, const CheckedFunction& function,
                    const std::vector<Tensor>& inputs) {
  TestEnvironment environment(kReferenceF64);
  for (const double error : FiniteDifferenceErrors(environment.context(), function, inputs,
                                                   LeavesOf(environment, layer))) {
    CHECK(error < 1e-6);
  }
}

TEST_CASE("gradients of cross attention agree with differences", "[layers][attention]") {
  for (const AttentionLayerOptions& options :
       {AttentionLayerOptions{.heads = 2, .fused = false},
        AttentionLayerOptions{.heads = 4, .key_heads = 2, .bias = false, .fused = false}}) {
    const auto layer = MadeAttention(options, 3);
    const auto cross = [&](Context& context, const std::vector<Var>& x) {
      return layer->Attend(context, x[0], x[1]);
    };
    CheckGradients(*layer, cross, {Numbers({2, 4, 8}, 1), Numbers({2, 5, 3}, 2)});
    CheckGradients(*layer, cross, {Numbers({2, 1, 8}, 1), Numbers({2, 6, 3}, 2)});
  }
}

TEST_CASE("gradients under an additive mask agree with differences", "[layers][attention]") {
  for (const Shape& shape : {Shape{1, 1, 4, 4}, Shape{2, 1, 4, 4}, Shape{1, 2, 4, 4},
                             Shape{2, 2, 4, 4}, Shape{2, 1, 1, 4}}) {
    INFO(ToString(shape));
    const Tensor mask = Numbers(shape, 5, -2, 2);
    const auto layer = MadeAttention({.heads = 2});
    CheckGradients(*layer,
                   [&](Context& context, const std::vector<Var>& x) {
                     return layer->Attend(context, x[0], x[0], mask);
                   },
                   {Numbers({2, 4, 8}, 1)});
  }
}

// 0 where a query may look, and -infinity, or nearly, elsewhere.
Tensor CausalMask(std::int64_t length, DType dtype) {
  std::vector<double> values;
  for (std::int64_t query = 0; query < length; ++query) {
    for (std::int64_t key = 0; key < length; ++key) values.push_back(key > query ? -1e30 : 0);
  }
  return MakeTensor({1, 1, length, length}, values, dtype);
}

TEST_CASE("a mask of the future is causality", "[layers][attention]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const Tensor x = RandomTensor({2, 7, 8}, 1, kind.dtype);
    const auto causal = MadeAttention({.heads = 2, .causal = true});
    const auto masked = MadeAttention({.heads = 2});
    const Pass expected = RunPass(
        environment, [&](Context& context, const Var& v) { return (*causal)(context, v); }, x);
    const Pass actual = RunPass(
        environment,
        [&](Context& context, const Var& v) {
          return masked->Attend(context, v, v, CausalMask(7, kind.dtype));
        },
        x);
    CHECK(RelativeError(actual.output, expected.output) < 1e-6);
    CHECK(RelativeError(actual.input_gradient, expected.input_gradient) < 1e-5);
  }
}

std::vector<double> OutputOf(Layer& layer, const Tensor& x) {
  TestEnvironment environment({BackendKind::kEigen, DType::kF64});
  return Values(layer(environment.context(), {x}).value);
}

TEST_CASE("a causal layer does not look ahead, another does", "[layers][attention]") {
  for (const bool causal : {true, false}) {
    const auto layer = MadeAttention({.heads = 2, .causal = causal, .rotary_base = 10});
    const Tensor x = Numbers({1, 5, 8}, 1);
    const std::vector<double> before = OutputOf(*layer, x);
    x.values<double>()[4 * 8] += 1;  // of the last position
    const std::vector<double> after = OutputOf(*layer, x);
    CHECK(std::equal(before.begin(), before.begin() + 4 * 8, after.begin()) == causal);
    CHECK_FALSE(std::equal(before.begin() + 4 * 8, before.end(), after.begin() + 4 * 8));
  }
}

TEST_CASE("without rotary angles, attention does not know the order", "[layers][attention]") {
  for (const double base : {0.0, 10.0}) {
    const auto layer = MadeAttention({.heads = 2, .rotary_base = base});
    const Tensor x = Numbers({1, 2, 8}, 1);
    const std::vector<double> before = OutputOf(*layer, x);
    for (std::size_t i = 0; i < 8; ++i) std::swap(x.values<double>()[i], x.values<double>()[8 + i]);
    const std::vector<double> after = OutputOf(*layer, x);
    const std::vector<double> first(after.begin(), after.begin() + 8);
    const std::vector<double> last(before.begin() + 8, before.end());
    CHECK((MaxError(first, last) < 1e-12) == (base == 0));
  }
}

TEST_CASE("one position attends to itself", "[layers][attention]") {
  // Its output is the projection of its value, whatever queries and keys are.
  const auto some = MadeAttention({.heads = 2});
  const auto causal = MadeAttention({.heads = 4, .causal = true});
  const Tensor x = Numbers({3, 1, 8}, 1);
  CHECK(MaxError(OutputOf(*some, x), OutputOf(*causal, x)) < 1e-12);
}

TEST_CASE("parts of attention have names", "[layers][attention]") {
  const auto paths = [](const AttentionLayerOptions& options, const AttentionNames& names) {
    AttentionLayer layer(kFeatures, options, names);
    layer.AssignPaths("h");
    std::string text;
    for (const Parameter* parameter : layer.Parameters()) {
      text += parameter->path + ToString(parameter->shape) + " ";
    }
    return text;
  };
  CHECK(paths({.heads = 2}, {}) ==
        "h.qkv.weight[24, 8] h.qkv.bias[24] h.out.weight[8, 8] h.out.bias[8] ");
  CHECK(paths({.heads = 4,
               .key_heads = 1,
               .bias = false,
               .output_bias = true,
               .fused = false,
               .layout = WeightLayout::kInOut},
              {.query = "q", .output = "o"}) ==
        "h.q.weight[8, 8] h.key.weight[8, 2] h.value.weight[8, 2] h.o.weight[8, 8] h.o.bias[8] ");
  CHECK(AttentionLayer(8, {.heads = 4, .key_heads = 2, .causal = true, .rotary_base = 9})
            .Describe() == "attention 8, 4 heads, 2 key heads, causal, rotary");
  CHECK(AttentionLayer(8, {}).kind() == LayerKind::kAttention);
}

TEST_CASE("heads that do not divide are refused", "[layers][attention][errors]") {
  const auto refused = [](const AttentionLayerOptions& options, const std::string& sentence) {
    CHECK_THROWS_AS(AttentionLayer(kFeatures, options), ConfigError);
    CHECK_THROWS_WITH(AttentionLayer(kFeatures, options), "[attention] " + sentence);
  };
  refused({.heads = 3},
          "heads divide the 8 features; heads = 3; choose a divisor, or give head_size");
  refused({.heads = 0}, "at least 1 head; heads = 0; say how many");
  refused({.heads = -2}, "at least 1 head; heads = -2; say how many");
  refused({.heads = 4, .key_heads = 3},
          "key_heads divide the 4 heads; key_heads = 3; choose a divisor of the heads");
  refused({.heads = 4, .key_heads = 8},
          "key_heads divide the 4 heads; key_heads = 8; choose a divisor of the heads");
  refused({.heads = 4, .key_heads = -1},
          "key_heads divide the 4 heads; key_heads = -1; choose a divisor of the heads");
  refused({.heads = 8, .rotary_base = 10},
          "rotary positions rotate heads of an even size; head_size = 1; choose an even size");
  refused({.head_size = -4},
          "head_size is at least 1, or 0 for features / heads; head_size = -4; leave it out");
  CHECK_NOTHROW(AttentionLayer(kFeatures, {.heads = 3, .head_size = 5}));
}

// A layer and the environment that its parameters live in.
struct Placed {
  Placed(const EnvironmentKind& kind, const AttentionLayerOptions& options)
      : environment(kind), layer(MadeAttention(options)) {}
  Var Value(const Shape& shape) const { return {RandomTensor(shape, 1, environment.dtype())}; }
  Var Attend(const Shape& x, const Shape& memory) {
    return layer->Attend(environment.context(), Value(x), Value(memory));
  }
  Var Run(const Shape& shape) { return (*layer)(environment.context(), Value(shape)); }
  Var Masked(const Tensor& mask) {
    const Var x = Value({2, 4, 8});
    return layer->Attend(environment.context(), x, x, mask);
  }

  TestEnvironment environment;
  std::unique_ptr<AttentionLayer> layer;
};

TEST_CASE("inputs that do not fit are refused", "[layers][attention][errors]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    Placed fused(kind, {.heads = 2, .longest = 4});
    CHECK_THROWS_WITH(fused.Run({2, 3, 7}),
                      "[net] attention takes [batch, positions, 8]; the input is [2, 3, 7]; change "
                      "the layer's features, or turn the input into a sequence");
    CHECK_THROWS_AS(fused.Run({3, 8}), ShapeError);
    CHECK_THROWS_WITH(fused.Run({1, 5, 8}),
                      "[net] sequences have at most 4 positions; the input is [1, 5, 8]; use "
                      "shorter sequences");
    CHECK_NOTHROW(fused.Run({1, 4, 8}));
    CHECK(fused.environment.ledger().live()[MemoryTag::kActivation] == 0);
  }
}

TEST_CASE("a memory that does not fit is refused", "[layers][attention][errors]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    Placed fused(kind, {.heads = 2});
    CHECK_THROWS_AS(fused.Attend({1, 4, 8}, {1, 4, 8}), UsageError);
    Placed apart(kind, {.heads = 2, .fused = false});
    CHECK_NOTHROW(apart.Attend({1, 4, 8}, {1, 3, 8}));
    CHECK_THROWS_AS(apart.Attend({1, 4, 8}, {2, 3, 8}), ShapeError);
    CHECK_THROWS_AS(apart.Attend({1, 4, 8}, {1, 3, 7}), ShapeError);
    CHECK_THROWS_AS(apart.Attend({1, 4, 8}, {3, 8}), ShapeError);
    Placed rotated(kind, {.heads = 2, .fused = false, .rotary_base = 10});
    CHECK_THROWS_AS(rotated.Attend({1, 4, 8}, {1, 3, 8}), ShapeError);
    CHECK(apart.environment.ledger().live()[MemoryTag::kActivation] == 0);
  }
}

TEST_CASE("a mask that does not fit is refused", "[layers][attention][errors]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    Placed placed(kind, {.heads = 2});
    CHECK_NOTHROW(placed.Masked(RandomTensor({2, 2, 4, 4}, 1, kind.dtype)));
    for (const Shape& shape : {Shape{4, 4}, Shape{1, 1, 4, 3}, Shape{1, 1, 3, 4}, Shape{3, 1, 4, 4},
                               Shape{1, 4, 4, 4}}) {
      CHECK_THROWS_AS(placed.Masked(RandomTensor(shape, 1, kind.dtype)), ShapeError);
    }
    CHECK_THROWS_AS(placed.Masked(Full({1, 1, 4, 4}, 0, DType::kI64)), ShapeError);
  }
}

}  // namespace
}  // namespace frugal::testing
