#pragma once

#include <cstdint>
#include <span>

#include "sdk/core/dtype.h"
#include "sdk/core/shape.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

// What a data set looks like, known before any of it is read.
struct DataLayout {
  Shape sample_shape;  // of one input, images [H, W, C]
  // Labels in [0, classes), or, where classes is 0, real targets of target_shape.
  std::int64_t classes = 0;
  Shape target_shape;
  std::int64_t train_count = 0;
  std::int64_t test_count = 0;

  Shape BatchShape(std::int64_t batch) const;
  Shape TargetBatchShape(std::int64_t batch) const;
};

enum class DatasetPart : std::uint8_t { kTrain, kTest };

// One part of an opened data set.
class DataSource {
 public:
  virtual ~DataSource() = default;

  virtual std::int64_t count() const = 0;
  // inputs [B, sample...] in the model's element type; targets [B] kI64 or [B, target...].
  virtual void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
                    const Tensor& targets) const = 0;
};

}  // namespace frugal
