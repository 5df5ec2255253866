#include "tests/oracles/stored_numbers.h"

#include "builders/weights.h"
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

Tensor ReadInput(const WeightSource& source, const std::string& name, DType dtype) {
  const Numbers stored = ReadNumbers(source, name);
  if (source.Find(name)->dtype == StoredDType::kI64) {
    return test::MakeTensor(stored.shape, stored.values, DType::kI64);
  }
  const Numbers numbers = stored.shape.rank() > 3 ? ToChannelsLast(stored) : stored;
  return test::MakeTensor(numbers.shape, numbers.values, dtype);
}

void TakeWeightsFrom(const WeightSource& source, test::TestWorld& world) {
  world.store().SetSource([&source](const Parameter& parameter, const Tensor& value) {
    if (ReadInto(source, parameter, value)) return true;
    throw DataError({.where = source.Path(),
                     .required = parameter.path + " " + ToString(parameter.shape),
                     .given = "it has none of this name and shape",
                     .advice = "give the checkpoint of this model"});
  });
}

}  // namespace frugal::oracles
