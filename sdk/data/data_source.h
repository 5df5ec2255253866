#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/core/dtype.h"
#include "sdk/core/shape.h"
#include "sdk/module/network_input.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

// Describes what a further output of a network is compared with: labels in [0, classes) or, where
// classes is 0, values, of this shape for each sample.
struct NamedTargets {
  std::string name;
  std::int64_t classes = 0;
  Shape shape{};
};

// Says what a data set looks like, which is known before any of it is read.
struct DataLayout {
  Shape sample_shape;  // of one input, images [H, W, C]
  // Labels in [0, classes), or, where classes is 0, real targets of target_shape.
  std::int64_t classes = 0;
  Shape target_shape;
  std::int64_t train_count = 0;
  std::int64_t test_count = 0;
  std::int64_t validation_count = 0;  // of data of the program's own that have such a part

  // > 0: inputs are token numbers kI64 in [0, vocabulary), sample_shape [T].
  std::int64_t vocabulary = 0;
  // The labels of one sample have this shape: {} for one label, [T] for one per position.
  Shape label_shape{};

  // The network takes these beside its first input, in this order.
  NetworkInputs conditions{};
  // Further outputs of the network are compared with these, by name.
  std::vector<NamedTargets> more_targets{};

  // Each sample has a weight, which its loss is multiplied with: DataSource::FillWeights.
  bool sample_weights = false;

  DType InputType(DType model) const { return vocabulary > 0 ? DType::kI64 : model; }
  Shape BatchShape(std::int64_t batch) const;
  Shape TargetBatchShape(std::int64_t batch) const;
};

// [B, shape...]
Shape BatchShape(const NamedTargets& targets, std::int64_t batch);

enum class DatasetPart : std::uint8_t { kTrain, kTest, kValidation };
std::string_view NameOf(DatasetPart part);  // "training", "test", "validation"

// One part of an opened data set. Threads: one asks it at a time, but where several devices are
// threads, and where models share it; then Fill runs in several at once.
class DataSource {
 public:
  virtual ~DataSource() = default;

  virtual std::int64_t count() const = 0;
  // inputs [B, sample...] in the model's element type, or kI64 where they are tokens; targets
  // [B, label...] kI64, or [B, target...] in the model's element type. Data sets of the library may
  // be asked for one of the two alone: then the other one is empty.
  virtual void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
                    const Tensor& targets) const = 0;
  // conditions[i] [B, DataLayout::conditions[i].shape...] in the model's element type, or kI64
  // where they are labels. Throws UsageError where the source has none.
  virtual void FillConditions(std::span<const std::int64_t> samples,
                              std::span<const Tensor> conditions) const;
  // targets[i] [B, DataLayout::more_targets[i].shape...] kI64 where they are labels, otherwise in
  // the model's element type. Throws UsageError where the source has none.
  virtual void FillMoreTargets(std::span<const std::int64_t> samples,
                               std::span<const Tensor> targets) const;
  // weights [B] in the type of losses (f32, or f64 in f64), where DataLayout::sample_weights. The
  // loss is then sum(weight_i loss_i) / B, as Keras has it, so that of a batch in parts is that of
  // the whole one. Throws UsageError where the source has none.
  virtual void FillWeights(std::span<const std::int64_t> samples, const Tensor& weights) const;
};

}  // namespace frugal
