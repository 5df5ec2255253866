#include "builders/setup/layer_factory.h"

namespace frugal {
namespace {

using Made = std::unique_ptr<Layer>;

struct Factory {
  std::int64_t features;  // of the input's last axis

  Made operator()(const DenseOptions& o) const { return std::make_unique<Dense>(features, o); }
  Made operator()(const ActivationOptions& o) const { return std::make_unique<ActivationLayer>(o); }
  Made operator()(const DropoutOptions& o) const { return std::make_unique<DropoutLayer>(o); }
  Made operator()(const FlattenOptions&) const { return std::make_unique<FlattenLayer>(); }

  template <std::size_t kAxes>
  Made operator()(const ConvolutionOptions<kAxes>& o) const {
    return std::make_unique<ConvolutionLayer<kAxes>>(features, o);
  }
  template <std::size_t kAxes>
  Made operator()(const TransposedConvolutionOptions<kAxes>& o) const {
    return std::make_unique<TransposedConvolutionLayer<kAxes>>(features, o);
  }

  Made operator()(const MaxPool2dOptions& o) const {
    return std::make_unique<Pool2d>(PoolKind::kMax, o);
  }
  Made operator()(const AveragePool2dOptions& o) const {
    return std::make_unique<Pool2d>(PoolKind::kAverage, o);
  }
  Made operator()(const AdaptivePool2dOptions& o) const {
    return std::make_unique<AdaptiveAveragePool2d>(o);
  }
  Made operator()(const UpsampleOptions& o) const { return std::make_unique<UpsampleLayer>(o); }

  Made operator()(const BatchNormOptions& o) const {
    return std::make_unique<BatchNormLayer>(features, o);
  }
  Made operator()(const LayerNormOptions& o) const {
    return std::make_unique<LayerNormLayer>(features, o);
  }
  Made operator()(const RmsNormOptions& o) const {
    return std::make_unique<RmsNormLayer>(features, o);
  }
  Made operator()(const GroupNormOptions& o) const {
    return std::make_unique<GroupNormLayer>(features, o);
  }

  Made operator()(const ToSequenceOptions&) const { return std::make_unique<ToSequenceLayer>(); }
  Made operator()(const LstmOptions& o) const {
    return std::make_unique<RecurrentLayer>(RecurrentKind::kLstm, features, o);
  }
  Made operator()(const GruOptions& o) const {
    return std::make_unique<RecurrentLayer>(RecurrentKind::kGru, features, o);
  }
  Made operator()(const SequencePoolOptions& o) const {
    return std::make_unique<SequencePoolLayer>(o);
  }

  Made operator()(const EmbeddingOptions& o) const { return std::make_unique<TokenEmbedding>(o); }
  Made operator()(const PositionOptions& o) const {
    return std::make_unique<LearnedPositions>(features, o);
  }
  Made operator()(const SinusoidOptions& o) const {
    return std::make_unique<SinusoidalPositions>(o);
  }
  Made operator()(const AttentionLayerOptions& o) const {
    return std::make_unique<AttentionLayer>(features, o);
  }
  Made operator()(const GatedFeedForwardOptions& o) const {
    return std::make_unique<GatedFeedForward>(features, o);
  }

  Made operator()(const ResidualOptions&) const { return nullptr; }
  Made operator()(const SequentialOptions&) const { return nullptr; }
};

}  // namespace

std::unique_ptr<Layer> MakeLayer(const LayerOptions& options, const Shape& input) {
  return std::visit(Factory{input.back()}, options);
}

}  // namespace frugal
