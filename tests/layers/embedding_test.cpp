#include "layers/embedding.h"

#include <cmath>

#include "layers/gated_feed_forward.h"
#include "layers/patch_embedding.h"
#include "sdk/core/error.h"
#include "tests/ops/gradient_model.h"
#include "tests/support/layer_cases.h"

// Layers that transformers begin with, and the gated unit inside. What holds for every layer over
// values is in layers_test.
namespace frugal::testing {
namespace {

Tensor Tokens(const Shape& shape, const std::vector<int>& tokens) {
  return MakeTensor(shape, tokens, DType::kI64);
}

struct Looked {
  Tensor output;
  std::vector<double> table;
  std::vector<double> gradient;
};

// Rows of a table [4, 3], and the table's gradient where each output's is 1.
Looked LookUp(const EnvironmentKind& kind, const Tensor& tokens,
              std::optional<std::int64_t> padding = {}) {
  TokenEmbedding layer({.vocabulary = 4, .units = 3, .init_std = 1, .padding_token = padding});
  layer.AssignPaths("net");
  NumberParameters(layer);
  TestEnvironment environment(kind);
  Tape tape;
  const TapeScope scope(environment.context(), &tape);
  const Var y = layer(environment.context(), {tokens});
  tape.Backward(environment.context(), y.slot, Full(y.shape(), 1, kind.dtype));
  return {CopyOf(y.value), Values(environment.store().Value(layer.weight())),
          Values(environment.store().Gradient(layer.weight()))};
}

TEST_CASE("an embedding looks up rows, and adds up their gradients", "[layers][embedding]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    const Looked looked = LookUp(kind, Tokens({2, 2}, {3, 0, 3, 3}));
    REQUIRE(looked.output.shape() == Shape({2, 2, 3}));
    for (std::size_t i = 0; i < 3; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      CHECK(Value(looked.output, at) == looked.table[9 + i]);
      CHECK(Value(looked.output, 3 + at) == looked.table[i]);
      CHECK(Value(looked.output, 9 + at) == looked.table[9 + i]);
    }
    CHECK(looked.gradient == std::vector<double>{1, 1, 1, 0, 0, 0, 0, 0, 0, 3, 3, 3});
  }
}

TEST_CASE("the row of padding is read and not trained", "[layers][embedding]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    const Looked looked = LookUp(kind, Tokens({1, 3}, {3, 0, 1}), 3);
    CHECK(Value(looked.output) == looked.table[9]);
    CHECK(looked.gradient == std::vector<double>{1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0});
  }
}

TEST_CASE("an embedding takes tokens of its table alone", "[layers][embedding][errors]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    CHECK_THROWS_AS(LookUp(kind, Tokens({1, 1}, {4})), DataError);
    CHECK_THROWS_AS(LookUp(kind, Tokens({1, 1}, {-1})), DataError);
    CHECK_THROWS_AS(LookUp(kind, Full({1, 1}, 1, kind.dtype)), ShapeError);
  }
  CHECK_THROWS_AS(TokenEmbedding({.units = 3}), ConfigError);
  CHECK_THROWS_AS(TokenEmbedding({.vocabulary = 3}), ConfigError);
  CHECK_THROWS_WITH(TokenEmbedding({.vocabulary = 3, .units = 2, .padding_token = 3}),
                    "[embedding] padding_token is one of the 3 tokens, counted from 0; "
                    "padding_token = 3; leave it out where no token is padding");
  CHECK_THROWS_AS(TokenEmbedding({.vocabulary = 3, .units = 2, .padding_token = -2}), ConfigError);
}

TEST_CASE("gradients of a tied projection agree with differences", "[layers][gradients]") {
  TokenEmbedding embedding({.vocabulary = 4, .units = 3, .init_std = 1});
  TiedProjection head(embedding.weight());
  embedding.AssignPaths("wte");
  head.AssignPaths("head");
  NumberParameters(embedding);
  CHECK(head.Parameters().empty());
  CHECK(embedding.weight().aliases == std::vector<std::string>{"head.weight"});
  CHECK(head.LastProjection()->weight == &embedding.weight());
  CHECK(head.LastProjection()->bias == nullptr);
  TestEnvironment environment(kReferenceF64);
  const auto errors = FiniteDifferenceErrors(
      environment.context(),
      [&](Context& context, const std::vector<Var>&) {
        return head(context, embedding(context, {Tokens({2, 2}, {0, 2, 2, 3})}));
      },
      {}, {LeafOf(environment, embedding.weight())});
  REQUIRE(errors.size() == 1);
  CHECK(errors[0] < 1e-6);
}

TEST_CASE("sinusoidal positions are those of the paper", "[layers][embedding]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    const auto layer = Ready(std::make_unique<SinusoidalPositions>(SinusoidOptions{.base = 100}));
    TestEnvironment environment(kind);
    const Var y = (*layer)(environment.context(), {Full({2, 5, 4}, 1, kind.dtype)});
    for (std::int64_t t = 0; t < 5; ++t) {
      const auto position = static_cast<double>(t);
      const std::vector<double> row = {std::sin(position), std::cos(position),
                                       std::sin(position / 10), std::cos(position / 10)};
      for (std::int64_t i = 0; i < 4; ++i) {
        CHECK(Value(y.value, (5 + t) * 4 + i) ==
              Approx(1 + row[static_cast<std::size_t>(i)]).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("positions refuse what they cannot place", "[layers][embedding][errors]") {
  const auto refused = [](std::unique_ptr<Layer> made, const Shape& shape,
                          const std::string& sentence) {
    const auto layer = Ready(std::move(made));
    TestEnvironment environment(kReferenceF64);
    CHECK_THROWS_WITH((*layer)(environment.context(), {Numbers(shape, 1)}), "[net] " + sentence);
  };
  const auto learned = [] {
    return std::make_unique<LearnedPositions>(4, PositionOptions{.positions = 3});
  };
  refused(learned(), {2, 4, 4},
          "sequences have at most 3 positions; the input is [2, 4, 4]; use shorter sequences, or a "
          "larger table of positions");
  refused(learned(), {2, 3, 5},
          "positions are added to [batch, positions, 4]; the input is [2, 3, 5]; put the layer "
          "behind an embedding");
  const auto sinusoids = [] { return std::make_unique<SinusoidalPositions>(SinusoidOptions{}); };
  refused(sinusoids(), {2, 3, 5},
          "sinusoidal positions take an even number of features; the input is [2, 3, 5]; make the "
          "features even");
  refused(sinusoids(), {2, 4},
          "positions are added to [batch, positions, features]; the input is [2, 4]; put the layer "
          "behind an embedding");
  CHECK_THROWS_AS(LearnedPositions(4, {}), ConfigError);
}

TEST_CASE("a gated unit is down(f(gate(x)) up(x))", "[layers]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    const auto layer = Ready(std::make_unique<GatedFeedForward>(
        1, GatedFeedForwardOptions{.hidden = 1, .bias = true, .init_std = 1}));
    TestEnvironment environment(kind);
    std::vector<double> p;  // gate, up and down, each a weight and a bias
    for (const Parameter* parameter : layer->Parameters()) {
      const Tensor& value = environment.store().Value(*parameter);
      if (parameter->name.ends_with("bias")) {
        environment.backend().elementwise().Fill(value, 0.25 * static_cast<double>(p.size()));
      }
      p.push_back(Value(value));
    }
    REQUIRE(p.size() == 6);
    const Var y = (*layer)(environment.context(), {Full({1, 1}, 2, kind.dtype)});
    const double gate = 2 * p[0] + p[1];
    const double silu = gate / (1 + std::exp(-gate));
    CHECK(Value(y.value) == Approx(silu * (2 * p[2] + p[3]) * p[4] + p[5]).epsilon(1e-5));
  }
  CHECK_THROWS_AS(GatedFeedForward(4, {}), ConfigError);
  CHECK_THROWS_AS(GatedFeedForward(4, {.hidden = -1}), ConfigError);
}

TEST_CASE("patches come in row-major order behind the class token", "[layers][embedding]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    const auto layer = Ready(std::make_unique<PatchEmbedding>(PatchEmbeddingOptions{
        .image_height = 4, .image_width = 6, .patch = 2, .channels = 1, .features = 1}));
    TestEnvironment environment(kind);
    for (const Parameter* parameter : layer->Parameters()) {
      const Tensor& value = environment.store().Value(*parameter);
      const double number = parameter->name == "cls_token"                   ? 100
                            : parameter->name.ends_with("projection.weight") ? 1
                            : parameter->name.ends_with("projection.bias")   ? 0.5
                                                                             : 1000;
      environment.backend().elementwise().Fill(value, number);
    }
    std::vector<double> image(24, 0);
    image[0] = 1;   // patch 0
    image[5] = 2;   // patch 2
    image[12] = 3;  // patch 3
    image[15] = 4;  // patch 4
    image[20] = 5;  // patch 4
    const Var y = (*layer)(environment.context(), {MakeTensor({1, 4, 6, 1}, image, kind.dtype)});
    CHECK(Values(y.value) ==
          std::vector<double>{1100, 1001.5, 1000.5, 1002.5, 1003.5, 1009.5, 1000.5});
    CHECK_THROWS_WITH((*layer)(environment.context(), {Full({1, 6, 4, 1}, 0, kind.dtype)}),
                      "[net] it takes images [4, 6, 1]; the input is [1, 6, 4, 1]; change the "
                      "model's image size or channels to those of the data");
  }
}

}  // namespace
}  // namespace frugal::testing
