#pragma once

#include "sdk/module/layer.h"
#include "sdk/ops/recurrent.h"

namespace frugal {

struct RecurrentOptions {
  std::int64_t units = 0;  // features of the hidden state, which is what comes out
  bool bias = true;
};

// Options of one kind each, which the types of layers are told apart by.
struct LstmOptions : RecurrentOptions {};
struct GruOptions : RecurrentOptions {};

enum class RecurrentKind : std::uint8_t { kLstm, kGru };

// [N, T, inputs] -> the hidden states of all steps [N, T, units], from zero states. One layer in
// one direction, under PyTorch's names: weight_ih_l0 [G units, inputs], weight_hh_l0 [G units,
// units], bias_ih_l0, bias_hh_l0 [G units], with G = 4 gates (LSTM) or 3 (GRU). All start uniform
// in +- 1 / sqrt(units), as there.
class RecurrentLayer final : public Layer {
 public:
  // Throws ConfigError where units is less than 1.
  RecurrentLayer(RecurrentKind recurrent_kind, std::int64_t inputs,
                 const RecurrentOptions& options);

  LayerKind kind() const override { return LayerKind::kRecurrent; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  RecurrentKind recurrent_kind_;
  RecurrentOptions options_;
  RecurrentParameters parameters_;
};

}  // namespace frugal
