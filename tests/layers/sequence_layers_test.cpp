#include "layers/sequence_layers.h"

#include "layers/norms.h"
#include "layers/recurrent.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/layer_cases.h"
#include "tests/support/passes.h"

// Layers over sequences. What holds for every layer is in layers_test.
namespace frugal::testing {
namespace {

using Made = std::unique_ptr<Layer>;

Pass SequencePassOf(Made made, const Tensor& input) {
  const Made layer = Ready(std::move(made));
  TestEnvironment environment(kReferenceF64);
  return RunPass(
      environment, [&](Context& context, const Var& x) { return (*layer)(context, x); }, input);
}

std::vector<double> Values(const Tensor& tensor) {
  const auto values = tensor.values<double>();
  return {values.begin(), values.end()};
}

Pass Pooled(SequencePooling mode, const Tensor& input) {
  return SequencePassOf(std::make_unique<SequencePoolLayer>(SequencePoolOptions{mode}), input);
}

TEST_CASE("sequence_pool takes the mean, the first or the last position", "[layers]") {
  const Tensor x = Uninitialized({2, 3, 2}, DType::kF64);
  for (std::size_t i = 0; i < 12; ++i) x.values<double>()[i] = static_cast<double>(i);
  CHECK(Values(Pooled(SequencePooling::kMean, x).output) == std::vector<double>{2, 3, 8, 9});
  CHECK(Values(Pooled(SequencePooling::kFirst, x).output) == std::vector<double>{0, 1, 6, 7});
  const Pass last = Pooled(SequencePooling::kLast, x);
  CHECK(Values(last.output) == std::vector<double>{4, 5, 10, 11});
  const std::vector<double> gradient = Values(last.input_gradient);
  for (const std::size_t at : {0u, 1u, 2u, 3u, 6u, 7u, 8u, 9u}) CHECK(gradient[at] == 0);
  for (const std::size_t at : {4u, 5u, 10u, 11u}) CHECK(gradient[at] != 0);
}

TEST_CASE("a sequence of one pools to itself", "[layers][edges]") {
  const Tensor x = RandomTensor({3, 1, 4}, 1, DType::kF64);
  for (const auto mode :
       {SequencePooling::kMean, SequencePooling::kFirst, SequencePooling::kLast}) {
    CHECK(Values(Pooled(mode, x).output) == Values(x));
  }
}

TEST_CASE("to_sequence keeps the order of positions", "[layers]") {
  for (const Shape& shape : {Shape{2, 6, 3}, Shape{2, 2, 3, 3}, Shape{2, 1, 3, 2, 3}}) {
    const Tensor x = RandomTensor(shape, 1, DType::kF64);
    const Pass pass = SequencePassOf(std::make_unique<ToSequenceLayer>(), x);
    CHECK(pass.output_shape == Shape({2, 6, 3}));
    CHECK(Values(pass.output) == Values(x));
  }
}

TEST_CASE("recurrent layers have the parameters of PyTorch", "[layers]") {
  const Made lstm = Ready(
      std::make_unique<RecurrentLayer>(RecurrentKind::kLstm, 3, RecurrentOptions{.units = 4}));
  std::vector<std::string> paths;
  for (const Parameter* parameter : lstm->Parameters()) paths.push_back(parameter->path);
  CHECK(paths == std::vector<std::string>{"net.weight_ih_l0", "net.weight_hh_l0", "net.bias_ih_l0",
                                          "net.bias_hh_l0"});
  CHECK(lstm->Parameters()[0]->shape == Shape({16, 3}));
  CHECK(lstm->Parameters()[1]->shape == Shape({16, 4}));
  CHECK(lstm->Parameters()[3]->shape == Shape({16}));
  for (const Parameter* parameter : lstm->Parameters()) {
    CHECK(parameter->initializer.kind == Initializer::Kind::kUniform);
    CHECK(parameter->initializer.a == -0.5);
    CHECK(parameter->initializer.b == 0.5);
  }
  const Made gru = Ready(std::make_unique<RecurrentLayer>(
      RecurrentKind::kGru, 3, RecurrentOptions{.units = 4, .bias = false}));
  REQUIRE(gru->Parameters().size() == 2);
  CHECK(gru->Parameters()[0]->shape == Shape({12, 3}));
  CHECK(lstm->kind() == LayerKind::kRecurrent);
  CHECK(lstm->Describe() == "lstm 3 -> 4");
  CHECK(gru->Describe() == "gru 3 -> 4, no bias");
}

TEST_CASE("a recurrent layer does not look ahead", "[layers]") {
  for (const RecurrentKind kind : {RecurrentKind::kLstm, RecurrentKind::kGru}) {
    const auto outputs = [&](double last) {
      const Tensor x = RandomTensor({1, 4, 2}, 1, DType::kF64);
      x.values<double>()[7] = last;
      return Values(
          SequencePassOf(std::make_unique<RecurrentLayer>(kind, 2, RecurrentOptions{.units = 3}), x)
              .output);
    };
    const std::vector<double> a = outputs(0.5);
    const std::vector<double> b = outputs(-2);
    CHECK(std::equal(a.begin(), a.begin() + 9, b.begin()));
    CHECK_FALSE(std::equal(a.begin() + 9, a.end(), b.begin() + 9));
  }
}

TEST_CASE("sequence layers and rms_norm describe themselves", "[layers]") {
  CHECK(SequencePoolLayer({}).Describe() == "sequence_pool, mean");
  CHECK(SequencePoolLayer({SequencePooling::kFirst}).Describe() == "sequence_pool, first");
  CHECK(SequencePoolLayer({SequencePooling::kLast}).Describe() == "sequence_pool, last");
  CHECK(SequencePoolLayer({}).kind() == LayerKind::kPooling);
  CHECK(ToSequenceLayer().Describe() == "to_sequence");
  CHECK(ToSequenceLayer().kind() == LayerKind::kReshape);
  CHECK(RmsNormLayer(8, {}).Describe() == "rms_norm 8 features");
  CHECK(RmsNormLayer(8, {}).kind() == LayerKind::kNorm);
}

std::string Refused(Made made, const Shape& input) {
  try {
    SequencePassOf(std::move(made), RandomTensor(input, 1, DType::kF64));
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("sequence layers refuse what is no sequence", "[layers][errors]") {
  const auto lstm = [] {
    return std::make_unique<RecurrentLayer>(RecurrentKind::kLstm, 3, RecurrentOptions{.units = 2});
  };
  const std::string lstm_takes = "[net] lstm takes a sequence [N, T, D] of at least one position; ";
  CHECK(Refused(lstm(), {2, 4, 4, 3}) ==
        lstm_takes + "the input is [2, 4, 4, 3]; put to_sequence before it");
  CHECK(Refused(lstm(), {2, 3}) ==
        lstm_takes + "the input is [2, 3]; give it one vector for each position");
  CHECK(Refused(lstm(), {2, 0, 3}) ==
        lstm_takes + "the input is [2, 0, 3]; give it one vector for each position");
  CHECK(Refused(lstm(), {2, 4, 5}) ==
        "[net] a recurrent layer takes [batch, steps, 3]; the input is [2, 4, 5]; change the "
        "layer's input size");
  CHECK(Refused(std::make_unique<SequencePoolLayer>(SequencePoolOptions{}), {2, 0, 3}) !=
        "accepted");
  CHECK(Refused(std::make_unique<SequencePoolLayer>(SequencePoolOptions{SequencePooling::kLast}),
                {2, 3}) != "accepted");
  CHECK(Refused(std::make_unique<ToSequenceLayer>(), {2, 3}) ==
        "[net] to_sequence takes [N, positions..., C]; the input is [2, 3]; leave the layer out");
  for (const bool affine : {true, false}) {
    for (const Shape& shape : {Shape{2, 4}, Shape{}}) {
      CHECK(Refused(std::make_unique<RmsNormLayer>(3, RmsNormOptions{1e-6, affine}), shape) ==
            "[net] rms norm takes 3 values at each position; the input is " + ToString(shape) +
                "; change the layer's size");
    }
  }
  CHECK_THROWS_WITH(RecurrentLayer(RecurrentKind::kGru, 3, {}),
                    "[gru] units is at least 1; units = 0; say how many features the hidden "
                    "state has");
}

}  // namespace
}  // namespace frugal::testing
