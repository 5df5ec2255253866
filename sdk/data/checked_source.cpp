#include "sdk/data/checked_source.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

// Numbers that no source writes: a NaN of its own, and a label that would be refused.
constexpr std::uint32_t kUnwrittenFloat = 0x7FC5A5A5;
constexpr std::uint64_t kUnwrittenDouble = 0x7FF8A5A5A5A5A5A5;
constexpr std::int64_t kUnwrittenLabel = std::numeric_limits<std::int64_t>::min() + 1;

// Fills the tensor with such numbers.
void Mark(const Tensor& tensor) {
  if (!tensor) return;
  switch (tensor.dtype()) {
    case DType::kF32:
      std::ranges::fill(tensor.values<float>(), std::bit_cast<float>(kUnwrittenFloat));
      break;
    case DType::kF64:
      std::ranges::fill(tensor.values<double>(), std::bit_cast<double>(kUnwrittenDouble));
      break;
    case DType::kI64:
      std::ranges::fill(tensor.values<std::int64_t>(), kUnwrittenLabel);
      break;
    default:
      break;
  }
}

// The first element that still has its mark; nothing where all were written.
std::optional<std::int64_t> FirstUnwritten(const Tensor& tensor) {
  if (!tensor) return std::nullopt;
  const auto first = [&](const auto& values, auto is_marked) -> std::optional<std::int64_t> {
    const auto found = std::ranges::find_if(values, is_marked);
    if (found == values.end()) return std::nullopt;
    return found - values.begin();
  };
  switch (tensor.dtype()) {
    case DType::kF32:
      return first(tensor.values<float>(), [](float value) {
        return std::bit_cast<std::uint32_t>(value) == kUnwrittenFloat;
      });
    case DType::kF64:
      return first(tensor.values<double>(), [](double value) {
        return std::bit_cast<std::uint64_t>(value) == kUnwrittenDouble;
      });
    case DType::kI64:
      return first(tensor.values<std::int64_t>(),
                   [](std::int64_t value) { return value == kUnwrittenLabel; });
    default:
      return std::nullopt;
  }
}

class CheckedSource final : public DataSource {
 public:
  CheckedSource(std::shared_ptr<const DataSource> inner, DataLayout layout,
                const LabelRules& labels)
      : inner_(std::move(inner)), layout_(std::move(layout)), labels_(labels) {}

  std::int64_t count() const override { return inner_->count(); }

  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    CheckCount(samples);
    const bool first = !looked_at_.exchange(true);
    if (first) {
      Mark(inputs);
      Mark(targets);
    }
    inner_->Fill(samples, inputs, targets);
    if (first) {
      CheckWritten(samples, inputs, "input");
      CheckWritten(samples, targets, layout_.classes > 0 ? "label" : "target");
    }
    if (layout_.vocabulary > 0) CheckRange(samples, inputs, "token", layout_.vocabulary);
    if (layout_.classes > 0 && labels_.own.checked) {
      CheckRange(samples, targets, "label", layout_.classes, labels_.own.ignored);
    }
  }

  void FillConditions(std::span<const std::int64_t> samples,
                      std::span<const Tensor> conditions) const override {
    inner_->FillConditions(samples, conditions);
    for (std::size_t i = 0; i < std::min(conditions.size(), layout_.conditions.size()); ++i) {
      const NetworkInput& condition = layout_.conditions[i];
      if (TypeOf(condition, DType::kF32) != DType::kI64) continue;
      CheckRange(samples, conditions[i], condition.name, condition.classes);
    }
  }

  void FillMoreTargets(std::span<const std::int64_t> samples,
                       std::span<const Tensor> targets) const override {
    inner_->FillMoreTargets(samples, targets);
    for (std::size_t i = 0; i < std::min(targets.size(), layout_.more_targets.size()); ++i) {
      const NamedTargets& more = layout_.more_targets[i];
      const LabelRule rule = i < labels_.more.size() ? labels_.more[i] : LabelRule();
      if (more.classes == 0 || !rule.checked) continue;
      CheckRange(samples, targets[i], more.name + " label", more.classes, rule.ignored);
    }
  }

  void FillWeights(std::span<const std::int64_t> samples, const Tensor& weights) const override {
    inner_->FillWeights(samples, weights);
  }

 private:
  [[noreturn]] static void Refuse(std::int64_t sample, std::string required, std::string given,
                                  std::string advice) {
    throw DataError({.where = "data, sample " + FormatCount(sample),
                     .required = std::move(required),
                     .given = std::move(given),
                     .advice = std::move(advice)});
  }

  void CheckCount(std::span<const std::int64_t> samples) const {
    const std::int64_t count = inner_->count();
    for (const std::int64_t sample : samples) {
      if (sample < count) continue;
      Refuse(sample, "the source has the samples that the layout announces",
             "its count() is " + FormatCount(count) + " now",
             "let count() be what it was when the model was built");
    }
  }

  // The sample that an element belongs to.
  static std::int64_t SampleOf(std::span<const std::int64_t> samples, const Tensor& tensor,
                               std::int64_t element) {
    const std::int64_t each = tensor.size() / std::ssize(samples);
    return samples[static_cast<std::size_t>(element / each)];
  }

  static void CheckWritten(std::span<const std::int64_t> samples, const Tensor& tensor,
                           const std::string& what) {
    const std::optional<std::int64_t> at = FirstUnwritten(tensor);
    if (!at) return;
    const std::int64_t each = tensor.size() / std::ssize(samples);
    Refuse(SampleOf(samples, tensor, *at),
           "Fill writes all " + what + "s of a sample, " + FormatCount(each) + " by the layout",
           "it left number " + FormatCount(*at % each) + " unwritten",
           "correct Fill, or the layout that was given with the source");
  }

  static void CheckRange(std::span<const std::int64_t> samples, const Tensor& tensor,
                         const std::string& what, std::int64_t end,
                         std::optional<std::int64_t> ignored = {}) {
    if (!tensor || tensor.dtype() != DType::kI64) return;
    const std::span<const std::int64_t> values = tensor.values<std::int64_t>();
    const auto found = std::ranges::find_if(values, [&](std::int64_t value) {
      return (value < 0 || value >= end) && value != ignored;
    });
    if (found == values.end()) return;
    Refuse(SampleOf(samples, tensor, found - values.begin()),
           what + "s lie in [0, " + FormatCount(end) + ")", FormatCount(*found) + " was filled in",
           "correct the source, or the layout that was given with it");
  }

  std::shared_ptr<const DataSource> inner_;
  DataLayout layout_;
  LabelRules labels_;
  mutable std::atomic<bool> looked_at_ = false;
};

}  // namespace

std::shared_ptr<const DataSource> Checked(std::shared_ptr<const DataSource> source,
                                          const DataLayout& layout, const LabelRules& labels) {
  const bool checked = dynamic_cast<const CheckedSource*>(source.get()) != nullptr;
  if (source == nullptr || checked) return source;
  return std::make_shared<CheckedSource>(std::move(source), layout, labels);
}

}  // namespace frugal
