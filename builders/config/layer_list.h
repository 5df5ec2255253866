#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "builders/config/types/layer_registry.h"
#include "layers/attention.h"
#include "layers/convolution.h"
#include "layers/dense.h"
#include "layers/embedding.h"
#include "layers/gated_feed_forward.h"
#include "layers/joins/again.h"
#include "layers/joins/branches.h"
#include "layers/joins/saved_values.h"
#include "layers/norms.h"
#include "layers/pool2d.h"
#include "layers/recurrent.h"
#include "layers/residual.h"
#include "layers/sequence_layers.h"
#include "layers/sequential.h"
#include "layers/simple_layers.h"
#include "layers/transposed_convolution.h"
#include "layers/upsample.h"
#include "sdk/train/network_output.h"

namespace frugal {

// A list of layers, verb by verb. Sizes of inputs are inferred. Threads: one uses a list at a time.
class LayerList {
 public:
  LayerList& Dense(const DenseOptions& options, std::string name = {});
  LayerList& Activation(ActivationFunction function, std::string name = {});
  LayerList& Dropout(double rate, std::string name = {});
  LayerList& Flatten(std::string name = {});

  LayerList& Conv1d(const Conv1dOptions& options, std::string name = {});
  LayerList& Conv2d(const Conv2dOptions& options, std::string name = {});
  LayerList& Conv3d(const Conv3dOptions& options, std::string name = {});
  LayerList& ConvTranspose1d(const ConvTranspose1dOptions& options, std::string name = {});
  LayerList& ConvTranspose2d(const ConvTranspose2dOptions& options, std::string name = {});
  LayerList& ConvTranspose3d(const ConvTranspose3dOptions& options, std::string name = {});

  LayerList& MaxPool2d(const Pool2dOptions& options, std::string name = {});
  LayerList& AveragePool2d(const Pool2dOptions& options, std::string name = {});
  LayerList& AdaptiveAveragePool2d(const AdaptivePool2dOptions& options = {},
                                   std::string name = {});
  LayerList& Upsample(const UpsampleOptions& options = {}, std::string name = {});

  LayerList& BatchNorm(const BatchNormOptions& options = {}, std::string name = {});
  LayerList& LayerNorm(const LayerNormOptions& options = {}, std::string name = {});
  LayerList& RmsNorm(const RmsNormOptions& options = {}, std::string name = {});
  LayerList& GroupNorm(const GroupNormOptions& options = {}, std::string name = {});

  LayerList& ToSequence(std::string name = {});
  LayerList& Lstm(const RecurrentOptions& options, std::string name = {});
  LayerList& Gru(const RecurrentOptions& options, std::string name = {});
  LayerList& SequencePool(const SequencePoolOptions& options = {}, std::string name = {});

  LayerList& Embedding(const EmbeddingOptions& options, std::string name = {});
  LayerList& LearnedPositions(const PositionOptions& options, std::string name = {});
  LayerList& SinusoidalPositions(const SinusoidOptions& options = {}, std::string name = {});
  LayerList& Attention(const AttentionLayerOptions& options, std::string name = {});
  LayerList& GatedFeedForward(const GatedFeedForwardOptions& options, std::string name = {});

  // A layer of the program's own: an L is constructed of its input's shape, a batch in front, and
  // options. It need not be registered.
  template <class L>
  LayerList& Add(const typename L::Options& options = {}, const std::string& name = {}) {
    return AddMade(options, MakerOf<L>(), "own layer", name);
  }
  // A layer of a registered type, by the struct of its options: Add(LayerScaleOptions{.start = 1}).
  LayerList& Add(LayerOptions options, std::string name = {}) {
    return AddSpec(std::move(options), std::move(name));
  }
  // A layer that the function makes for an input of this shape, a batch in front. It is called
  // whenever the network is built: for the plan, for each device and for copies.
  using Maker = std::function<std::unique_ptr<Layer>(const Shape& input)>;
  LayerList& Custom(std::string name, Maker make);

  // `fill` gets an empty list to add the inner layers to.
  using Fill = std::function<void(LayerList&)>;
  LayerList& Residual(const ResidualOptions& options, const Fill& body, const Fill& shortcut = {},
                      std::string name = {});
  LayerList& Sequential(const Fill& body, std::string name = {});
  // Each layer of the list is a branch over the same input; Sequential makes one of several layers.
  LayerList& Branches(const BranchesOptions& options, const Fill& branches, std::string name = {});
  // Names the value here, for joins further on in this list: skips, several paths that meet.
  LayerList& Save(std::string as);
  LayerList& Join(const JoinOptions& options);
  // Goes on with a saved value, or with what the data have beside their first input.
  LayerList& Take(std::string value);
  // Runs an earlier layer of this list once more, with its weights.
  LayerList& Again(std::string layer);
  // An output of the network beside its last value, made by `body` of the value here, or that value
  // itself; the list goes on with what was there.
  LayerList& Output(std::string name, const NetworkOutputOptions& options = {},
                    const Fill& body = {});

  const std::vector<LayerSpec>& specs() const { return specs_; }

 private:
  LayerList& AddSpec(LayerOptions options, std::string name, std::vector<LayerSpec> layers = {},
                     std::vector<LayerSpec> shortcut = {});
  LayerList& AddMade(LayerOptions options, LayerMaker make, std::string type_name,
                     std::string name);

  std::vector<LayerSpec> specs_;
};

// Returns what `fill` adds to an empty list; nothing where it is empty itself.
std::vector<LayerSpec> SpecsOf(const LayerList::Fill& fill);

}  // namespace frugal
