#include "tests/oracles/stored_numbers.h"

#include "builders/execute/weights.h"
#include "sdk/core/error.h"
#include "tests/support/tensors.h"

namespace frugal::oracles {

Numbers ReadNumbers(const WeightSource& source, const std::string& name) {
  const StoredTensor* stored = source.Find(name);
  if (stored == nullptr) {
    throw DataError({.where = source.Path(),
                     .required = "a tensor named '" + name + "'",
                     .given = "there is none",
                     .advice = "give a file of the form that tests/oracles/README.md describes"});
  }
  Numbers numbers = {stored->shape, {}};
  numbers.values.resize(static_cast<std::size_t>(stored->shape.ElementCount()));
  source.ReadAsF64(name, numbers.values);
  return numbers;
}

namespace {

// [N, F, C, H, W] -> [N, F, H, W, C]
Numbers FramesToChannelsLast(const Numbers& stored) {
  const Shape& from = stored.shape;
  const Numbers images =
      ToChannelsLast({{from[0] * from[1], from[2], from[3], from[4]}, stored.values});
  return {{from[0], from[1], from[3], from[4], from[2]}, images.values};
}

Numbers Turned(const Numbers& stored, std::size_t video_channels) {
  if (stored.shape.rank() <= 3) return stored;
  const bool frames_first = stored.shape.rank() == 5 && video_channels == 2;
  return frames_first ? FramesToChannelsLast(stored) : ToChannelsLast(stored);
}

}  // namespace

Tensor ReadInput(const WeightSource& source, const std::string& name, DType dtype,
                 std::size_t video_channels) {
  const Numbers stored = ReadNumbers(source, name);
  if (source.Find(name)->dtype == StoredDType::kI64) {
    return testing::MakeTensor(stored.shape, stored.values, DType::kI64);
  }
  const Numbers numbers = Turned(stored, video_channels);
  return testing::MakeTensor(numbers.shape, numbers.values, dtype);
}

void TakeWeightsFrom(const WeightSource& source, testing::TestEnvironment& environment) {
  environment.store().SetSource([&source](const Parameter& parameter, const Tensor& value) {
    if (ReadInto(source, parameter, value, DivergencePolicy::kStop)) return true;
    throw DataError({.where = source.Path(),
                     .required = parameter.path + " " + ToString(parameter.shape),
                     .given = "it has none of this name and shape",
                     .advice = "give the checkpoint of this model"});
  });
}

}  // namespace frugal::oracles
