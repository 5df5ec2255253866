#include "sdk/core/random.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

// Element `i` of sample number `sample`, in [0, 1).
double NumberOf(std::int64_t sample, std::size_t i, std::uint64_t stream) {
  return UniformAt(static_cast<std::uint64_t>(sample) + stream, i);
}

template <class T>
void FillValues(std::span<const std::int64_t> samples, std::uint64_t stream, std::span<T> values) {
  const std::size_t size = values.size() / samples.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<T>(NumberOf(samples[i / size], i % size, stream) - 0.5);
  }
}

void FillWhole(std::span<const std::int64_t> samples, std::int64_t end, std::uint64_t stream,
               std::span<std::int64_t> numbers) {
  const std::size_t size = numbers.size() / samples.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double number = NumberOf(samples[i / size], i % size, stream);
    numbers[i] = static_cast<std::int64_t>(number * static_cast<double>(end));
  }
}

class SyntheticData final : public DataSource {
 public:
  SyntheticData(const DataLayout& layout, std::int64_t count) : layout_(layout), count_(count) {}

  std::int64_t count() const override { return count_; }

  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    FillTensor(samples, layout_.vocabulary, 17, inputs);
    if (layout_.classes > 0 && layout_.label_shape.rank() == 0) {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        targets.values<std::int64_t>()[i] = samples[i] % layout_.classes;
      }
    } else {
      FillTensor(samples, layout_.classes, 1000, targets);
    }
  }
  void FillConditions(std::span<const std::int64_t> samples,
                      std::span<const Tensor> conditions) const override {
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      FillTensor(samples, layout_.conditions[i].classes, 2000 + i, conditions[i]);
    }
  }
  void FillMoreTargets(std::span<const std::int64_t> samples,
                       std::span<const Tensor> targets) const override {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      FillTensor(samples, layout_.more_targets[i].classes, 3000 + i, targets[i]);
    }
  }

 private:
  static void FillTensor(std::span<const std::int64_t> samples, std::int64_t end,
                         std::uint64_t stream, const Tensor& tensor) {
    if (tensor.dtype() == DType::kI64) {
      FillWhole(samples, end, stream, tensor.values<std::int64_t>());
    } else if (tensor.dtype() == DType::kF64) {
      FillValues(samples, stream, tensor.values<double>());
    } else {
      FillValues(samples, stream, tensor.values<float>());
    }
  }

  DataLayout layout_;
  std::int64_t count_;
};

}  // namespace

DataLayout SyntheticLayout(std::int64_t train, std::int64_t test) {
  return {.sample_shape = {8, 8, 2},
          .classes = 5,
          .target_shape = {},
          .train_count = train,
          .test_count = test};
}

DataLayout SyntheticTextLayout(const SyntheticText& text) {
  DataLayout layout{.sample_shape = {text.length},
                    .classes = text.features > 0 ? 0 : text.vocabulary,
                    .target_shape = {},
                    .train_count = 64,
                    .test_count = 20,
                    .vocabulary = text.vocabulary};
  if (text.features > 0) {
    layout.target_shape = {text.length, text.features};
  } else {
    layout.label_shape = {text.length};
  }
  return layout;
}

DataSources SyntheticSources(const DataLayout& layout) {
  return {std::make_shared<SyntheticData>(layout, layout.train_count),
          std::make_shared<SyntheticData>(layout, layout.test_count)};
}

}  // namespace frugal::testing
