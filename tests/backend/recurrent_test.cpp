#include <algorithm>

#include "sdk/backend/eigen/matmul/product.h"
#include "sdk/backend/eigen/sequence/sequence.h"
#include "sdk/io/weights/open_weights.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

// Whole sequences of PyTorch's LSTM and GRU, made of products and of single steps.
namespace frugal {
namespace {

using testing::Full;
using testing::MakeTensor;
using testing::RelativeError;
using testing::Uninitialized;
using testing::Values;

constexpr DType kF64 = DType::kF64;
constexpr std::int64_t kBatch = 2;
constexpr std::int64_t kTime = 5;
constexpr std::int64_t kInputs = 6;
constexpr std::int64_t kWidth = 8;

struct OracleFile {
  explicit OracleFile(const std::string& name)
      : source(
            OpenWeights(std::string(FRUGAL_TEST_DATA) + "/oracles/ops/" + name + ".safetensors")) {}

  Tensor Read(const std::string& name) const {
    const Shape shape = source->Find("0/" + name)->shape;
    std::vector<double> values(static_cast<std::size_t>(shape.ElementCount()));
    source->ReadAsF64("0/" + name, values);
    return MakeTensor(shape, values, kF64);
  }
  // Row t of every sequence of a tensor [N, T, width].
  Tensor ReadTime(const std::string& name, std::int64_t t) const {
    const Tensor all = Read(name);
    const std::int64_t width = all.shape().back();
    const Tensor one = Uninitialized({kBatch, width}, kF64);
    for (std::int64_t n = 0; n < kBatch; ++n) {
      std::copy_n(all.data<double>() + (n * kTime + t) * width, width,
                  one.data<double>() + n * width);
    }
    return one;
  }

  std::unique_ptr<WeightSource> source;
};

// Gradients of a layer's parameters and input, and the steps that both cells need around them.
struct Layer {
  explicit Layer(const std::string& name, std::int64_t gates)
      : file(name),
        rows(gates * kWidth),
        weight_ih(file.Read("in/weight_ih_l0")),
        weight_hh(file.Read("in/weight_hh_l0")),
        bias_ih(file.Read("in/bias_ih_l0")),
        bias_hh(file.Read("in/bias_hh_l0")),
        dweight_ih(Full({rows, kInputs}, 0, kF64)),
        dweight_hh(Full({rows, kWidth}, 0, kF64)),
        dbias_ih(Full({rows}, 0, kF64)),
        dbias_hh(Full({rows}, 0, kF64)) {}

  Tensor FromInput(std::int64_t t) {
    const Tensor sums = Uninitialized({kBatch, rows}, kF64);
    product.LinearForward(file.ReadTime("in/input", t), weight_ih, bias_ih, {}, sums, {}, nullptr);
    return sums;
  }
  // `added` is the other product where the cell wants their sum.
  Tensor FromHidden(const Tensor& hidden, const Tensor& added) {
    const Tensor sums = Uninitialized({kBatch, rows}, kF64);
    product.LinearForward(hidden, weight_hh, bias_hh, added, sums, {}, nullptr);
    return sums;
  }
  // Adds to the parameters' gradients; returns that of the input at time t.
  Tensor BackwardInput(const Tensor& dsums, std::int64_t t) {
    const Tensor dx = Uninitialized({kBatch, kInputs}, kF64);
    product.LinearBackwardWeight(dsums, file.ReadTime("in/input", t), dweight_ih, dbias_ih, true,
                                 nullptr);
    product.LinearBackwardData(dsums, weight_ih, dx, false, nullptr);
    return dx;
  }
  void BackwardHidden(const Tensor& dsums, const Tensor& hidden_before, const Tensor& dhidden) {
    product.LinearBackwardWeight(dsums, hidden_before, dweight_hh, dbias_hh, true, nullptr);
    product.LinearBackwardData(dsums, weight_hh, dhidden, true, nullptr);
  }
  // dhidden += the gradient of the output at time t
  void AddUpstream(const Tensor& dhidden, std::int64_t t) const {
    const std::vector<double> upstream = Values(file.ReadTime("upstream", t));
    for (std::size_t i = 0; i < upstream.size(); ++i) dhidden.data<double>()[i] += upstream[i];
  }
  void CheckParameters() const {
    CHECK(RelativeError(dweight_ih, file.Read("grad/weight_ih_l0")) < 1e-5);
    CHECK(RelativeError(dweight_hh, file.Read("grad/weight_hh_l0")) < 1e-5);
    CHECK(RelativeError(dbias_ih, file.Read("grad/bias_ih_l0")) < 1e-5);
    CHECK(RelativeError(dbias_hh, file.Read("grad/bias_hh_l0")) < 1e-5);
  }

  EigenProductKernels product;
  OracleFile file;
  std::int64_t rows;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  Tensor dweight_ih, dweight_hh, dbias_ih, dbias_hh;
};

Tensor State() { return Uninitialized({kBatch, kWidth}, kF64); }
Tensor ZeroState() { return Full({kBatch, kWidth}, 0, kF64); }

TEST_CASE("eigen lstm steps make up PyTorch's layer", "[oracles]") {
  Layer layer("lstm", 4);
  EigenSequenceKernels kernels;
  std::vector<Tensor> gates, cells{ZeroState()}, hiddens{ZeroState()};
  for (std::int64_t t = 0; t < kTime; ++t) {
    gates.push_back(layer.FromHidden(hiddens.back(), layer.FromInput(t)));
    const Tensor cell = State();
    const Tensor hidden = State();
    kernels.LstmForward(gates.back(), cells.back(), cell, hidden);
    cells.push_back(cell);
    hiddens.push_back(hidden);
    CHECK(RelativeError(hidden, layer.file.ReadTime("out", t)) < 1e-6);
  }
  const Tensor dcell = ZeroState();
  Tensor dhidden = ZeroState();
  for (std::int64_t t = kTime; t-- > 0;) {
    const auto at = static_cast<std::size_t>(t);
    layer.AddUpstream(dhidden, t);
    kernels.LstmBackward(dhidden, gates[at], cells[at], cells[at + 1], dcell, gates[at]);
    dhidden = ZeroState();
    layer.BackwardHidden(gates[at], hiddens[at], dhidden);
    CHECK(RelativeError(layer.BackwardInput(gates[at], t), layer.file.ReadTime("grad/input", t)) <
          1e-5);
  }
  layer.CheckParameters();
}

TEST_CASE("eigen gru steps make up PyTorch's layer", "[oracles]") {
  Layer layer("gru", 3);
  EigenSequenceKernels kernels;
  std::vector<Tensor> from_input, from_hidden, hiddens{ZeroState()};
  for (std::int64_t t = 0; t < kTime; ++t) {
    from_input.push_back(layer.FromInput(t));
    from_hidden.push_back(layer.FromHidden(hiddens.back(), {}));
    const Tensor hidden = State();
    kernels.GruForward(from_input.back(), from_hidden.back(), hiddens.back(), hidden);
    hiddens.push_back(hidden);
    CHECK(RelativeError(hidden, layer.file.ReadTime("out", t)) < 1e-6);
  }
  const Tensor dhidden = ZeroState();
  for (std::int64_t t = kTime; t-- > 0;) {
    const auto at = static_cast<std::size_t>(t);
    layer.AddUpstream(dhidden, t);
    kernels.GruBackward(dhidden, from_input[at], from_hidden[at], hiddens[at], dhidden);
    layer.BackwardHidden(from_hidden[at], hiddens[at], dhidden);
    CHECK(RelativeError(layer.BackwardInput(from_input[at], t),
                        layer.file.ReadTime("grad/input", t)) < 1e-5);
  }
  layer.CheckParameters();
}

}  // namespace
}  // namespace frugal
