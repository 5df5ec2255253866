#include "builders/run/given_values.h"

#include <algorithm>

#include "sdk/core/error.h"

namespace frugal {
namespace {

// The data's inputs, as inputs of a network.
NetworkInputs InputsOf(const DataLayout& layout) {
  NetworkInputs inputs = {{.name = "x",
                           .role = layout.vocabulary > 0 ? InputRole::kTokens : InputRole::kSample,
                           .shape = layout.sample_shape,
                           .classes = layout.vocabulary}};
  inputs.insert(inputs.end(), layout.conditions.begin(), layout.conditions.end());
  return inputs;
}

NetworkInput TargetOf(std::string name, std::int64_t classes, const Shape& shape) {
  return {.name = std::move(name),
          .role = classes > 0 ? InputRole::kLabel : InputRole::kValues,
          .shape = shape,
          .classes = classes};
}

// Returns what outputs are compared with, in the same way.
NetworkInputs TargetsOf(const DataLayout& layout) {
  NetworkInputs targets = {TargetOf("targets", layout.classes,
                                    layout.classes > 0 ? layout.label_shape : layout.target_shape)};
  for (const NamedTargets& more : layout.more_targets) {
    targets.push_back(TargetOf(more.name, more.classes, more.shape));
  }
  return targets;
}

template <class T, class V>
void CopyRows(std::span<const std::int64_t> samples, std::span<const V> values, const Tensor& to) {
  const std::int64_t size = to.size() / std::ssize(samples);
  T* out = to.data<T>();
  for (const std::int64_t sample : samples) {
    const auto row =
        values.subspan(static_cast<std::size_t>(sample * size), static_cast<std::size_t>(size));
    out = std::ranges::transform(row, out, [](V value) { return static_cast<T>(value); }).out;
  }
}

void CopySamples(std::span<const std::int64_t> samples, const InputValues& values,
                 const Tensor& to) {
  if (to.dtype() == DType::kI64) {
    CopyRows<std::int64_t>(samples, std::get<1>(values), to);
  } else if (to.dtype() == DType::kF64) {
    CopyRows<double>(samples, std::get<0>(values), to);
  } else {
    CopyRows<float>(samples, std::get<0>(values), to);
  }
}

}  // namespace

void CheckGivenInputs(const std::string& where, const NetworkInputs& inputs,
                      std::span<const InputValues> given, std::int64_t count,
                      const std::string& advice) {
  const auto refuse = [&](std::string required, std::string was) {
    throw UsageError({.where = where,
                      .required = std::move(required),
                      .given = std::move(was),
                      .advice = advice});
  };
  if (given.size() != inputs.size() || count < 1) {
    refuse("the network takes " + std::to_string(inputs.size()) + " inputs of at least 1 sample",
           std::to_string(given.size()) + " of " + std::to_string(count) + " were given");
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const NetworkInput& input = inputs[i];
    const bool integers = TypeOf(input, DType::kF32) == DType::kI64;
    const auto size = static_cast<std::int64_t>(
        std::visit([](const auto& values) { return values.size(); }, given[i]));
    if ((given[i].index() == 1) != integers || size != BatchShape(input, count).ElementCount()) {
      refuse("input '" + input.name + "' holds " + ToString(BatchShape(input, count)) +
                 (integers ? " integers" : " values"),
             std::to_string(size) + (given[i].index() == 1 ? " integers" : " values"));
    }
    if (!integers) continue;
    for (const std::int64_t label : std::get<1>(given[i])) {
      if (label >= 0 && label < input.classes) continue;
      refuse("input '" + input.name + "' is in [0, " + std::to_string(input.classes) + ")",
             std::to_string(label) + " was given");
    }
  }
}

GivenValues::GivenValues(const std::string& where, const DataLayout& layout, bool takes_targets,
                         std::span<const InputValues> inputs, std::span<const InputValues> targets,
                         std::int64_t count)
    : inputs_(inputs), targets_(targets), count_(count) {
  const std::string advice = "give them as DataLayout has them, channels last";
  CheckGivenInputs(where, InputsOf(layout), inputs, count, advice);
  CheckGivenInputs(where, takes_targets ? TargetsOf(layout) : NetworkInputs(), targets, count,
                   advice);
}

void GivenValues::Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
                       const Tensor& targets) const {
  if (inputs) CopySamples(samples, inputs_[0], inputs);
  if (targets && !targets_.empty()) CopySamples(samples, targets_[0], targets);
}

void GivenValues::FillConditions(std::span<const std::int64_t> samples,
                                 std::span<const Tensor> conditions) const {
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    CopySamples(samples, inputs_[i + 1], conditions[i]);
  }
}

void GivenValues::FillMoreTargets(std::span<const std::int64_t> samples,
                                  std::span<const Tensor> targets) const {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    CopySamples(samples, targets_[i + 1], targets[i]);
  }
}

}  // namespace frugal
