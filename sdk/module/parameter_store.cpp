#include "sdk/module/parameter_store.h"

#include <cassert>

#include "sdk/core/error.h"

namespace frugal {
namespace {

[[noreturn]] void ThrowNumber(const Parameter& parameter, const std::string& given) {
  throw UsageError({.where = parameter.path.empty() ? parameter.name : parameter.path,
                    .required = "every parameter has a path and a number of its own",
                    .given = given,
                    .advice = "call AssignPaths and NumberParameters on the whole model, or Adopt "
                              "on the TrainingMemoryManager that runs it"});
}

}  // namespace

ParameterStore::Slot& ParameterStore::SlotOf(const Parameter& parameter) {
  if (parameter.index >= slots_.size()) slots_.resize(parameter.index + 1);
  std::unique_ptr<Slot>& slot = slots_[parameter.index];
  if (!slot) {
    if (parameter.path.empty()) ThrowNumber(parameter, "this one was never named");
    slot = std::make_unique<Slot>();
    slot->owner = &parameter;
    slot->label = ledger_.labels().Add(parameter.path);
    if (!options_.dry) {
      slot->identity = std::make_unique<Identity>(Identity{parameter.path, parameter.shape});
    }
  }
  if (options_.dry && slot->owner == &parameter) return *slot;
  const std::string& path = options_.dry ? slot->owner->path : slot->identity->path;
  const Shape& shape = options_.dry ? slot->owner->shape : slot->identity->shape;
  if (path != parameter.path || !(shape == parameter.shape)) {
    ThrowNumber(parameter, "number " + std::to_string(parameter.index) + " is that of " + path +
                               " " + ToString(shape) + " already");
  }
  return *slot;
}

ParameterStore::Extras& ParameterStore::Slot::MakeExtras() {
  if (!extras) extras = std::make_unique<Extras>();
  return *extras;
}

void ParameterStore::Slot::FreeGradients() {
  gradient = Tensor();
  if (extras) extras->earlier = extras->rows = Tensor();
  gradient_arrived = earlier_arrived = rows_arrived = false;
}

const ParameterStore::Slot* ParameterStore::FindSlot(const Parameter& parameter) const {
  return parameter.index < slots_.size() ? slots_[parameter.index].get() : nullptr;
}

Tensor ParameterStore::Take(Allocator& memory, const Parameter& parameter, MemoryTag tag) {
  const HolderScope holder(ledger_, SlotOf(parameter).label);
  return Tensor(memory, parameter.shape, options_.dtype, tag);
}

void ParameterStore::FillValue(const Parameter& parameter, const Tensor& value) {
  if (options_.dry) return;
  if (source_ && source_(parameter, value)) return;
  const bool zero = options_.start_at_zero && !parameter.is_buffer;
  Initialize(zero ? Initializer::Zero() : parameter.initializer, options_.seed, parameter.path,
             value);
}

Tensor ParameterStore::Value(const Parameter& parameter) {
  if (options_.shards != nullptr && options_.shards->stage >= 3) {
    const std::int64_t holder = options_.shards->HolderOf(parameter);
    if (gather_ && holder != ParameterShards::kEveryReplica) return Gathered(parameter, holder);
  }
  return OwnValue(parameter);
}

Tensor ParameterStore::OwnValue(const Parameter& parameter) {
  if (PagesValue(parameter) && HoldsValue(parameter)) return BringValue(parameter);
  const Slot& slot = SlotOf(parameter);
  if (!slot.value) Materialize(parameter);
  return slot.value;
}

Tensor ParameterStore::Gathered(const Parameter& parameter, std::int64_t holder) {
  Tensor value = HoldsValue(parameter)
                     ? OwnValue(parameter)
                     : Take(*options_.step_memory, parameter, MemoryTag::kParameter);
  gather_(parameter, value, holder);
  return value;
}

void ParameterStore::Materialize(const Parameter& parameter) {
  Slot& slot = SlotOf(parameter);
  if (slot.value || slot.FindPagedValue() != nullptr) return;
  if (!HoldsValue(parameter)) {
    throw UsageError({.where = parameter.path,
                      .required = "a value is asked of the replica that holds it",
                      .given = "replica " + std::to_string(options_.shards->own) +
                               " was asked, replica " +
                               std::to_string(options_.shards->HolderOf(parameter)) + " holds it",
                      .advice = {}});
  }
  if (PagesValue(parameter)) {
    BringValue(parameter);
    return;
  }
  Tensor value = Take(memory_, parameter, MemoryTag::kParameter);
  FillValue(parameter, value);
  slot.value = std::move(value);
}

// Copies are made in the memory of the step where the value is only there for a while.
Tensor ParameterStore::PackedCopy(const Parameter& parameter, const Tensor& value,
                                  WeightLayout layout, Backend& backend) {
  const std::int64_t bytes = backend.product().PackedWeightBytes({value, layout});
  if (bytes == 0) return {};
  const HolderScope holder(ledger_, SlotOf(parameter).label);
  Tensor packed(*options_.step_memory, {bytes}, DType::kU8, MemoryTag::kParameter);
  if (!options_.dry) backend.product().PackWeight({value, layout}, packed);
  return packed;
}

Tensor ParameterStore::Packed(const Parameter& parameter, WeightLayout layout, Backend& backend) {
  Materialize(parameter);
  Slot& slot = SlotOf(parameter);
  if (HasPacked(parameter)) {
    assert(slot.extras->packed_layout == layout);  // a weight has one, however often it is tied
    return slot.extras->packed;
  }
  const std::int64_t bytes = backend.product().PackedWeightBytes({slot.value, layout});
  if (bytes == 0) return {};  // none: products read the weight itself
  const HolderScope holder(ledger_, slot.label);
  Extras& extras = slot.MakeExtras();
  extras.packed = Tensor(memory_, {bytes}, DType::kU8, MemoryTag::kParameter);
  extras.packed_layout = layout;
  Repack(parameter, backend);
  return extras.packed;
}

void ParameterStore::Repack(const Parameter& parameter, Backend& backend) {
  if (!HasPacked(parameter) || options_.dry) return;
  const Slot& slot = SlotOf(parameter);
  backend.product().PackWeight({slot.value, slot.extras->packed_layout}, slot.extras->packed);
}

bool ParameterStore::HasPacked(const Parameter& parameter) const {
  const Slot* slot = FindSlot(parameter);
  return slot != nullptr && slot->extras && slot->extras->packed;
}

LinearWeight ParameterStore::WeightOf(const Parameter& parameter, WeightLayout layout,
                                      DType activations, Backend& backend) {
  LinearWeight weight(Value(parameter), layout);
  if (activations != DType::kBF16) return weight;
  const bool is_shared = options_.shards != nullptr && options_.shards->stage >= 3;
  weight.packed = is_shared || PagesValue(parameter)
                      ? PackedCopy(parameter, weight.tensor, layout, backend)
                      : Packed(parameter, layout, backend);
  return weight;
}

bool ParameterStore::IsMaterialized(const Parameter& parameter) const {
  const Slot* slot = FindSlot(parameter);
  return slot != nullptr && (slot->value || slot->FindPagedValue() != nullptr);
}

Tensor ParameterStore::TakeGradient(const Parameter& parameter) {
  const bool elsewhere = options_.shards != nullptr && !options_.shards->HoldsGradient(parameter);
  const bool used_up = options_.step_gradients || elsewhere;
  return Take(used_up ? *options_.step_memory : memory_, parameter, MemoryTag::kGradient);
}

GradientTarget ParameterStore::Contribute(const Parameter& parameter, Tensor& sum, bool& arrived) {
  if (!sum) sum = TakeGradient(parameter);
  ++SlotOf(parameter).contributions;
  touched_.push_back(parameter.index);
  return {sum, std::exchange(arrived, true)};
}

GradientTarget ParameterStore::GradientFor(const Parameter& parameter) {
  Slot& slot = SlotOf(parameter);
  return Contribute(parameter, slot.gradient, slot.gradient_arrived);
}

GradientTarget ParameterStore::TableGradientFor(const Parameter& parameter) {
  if (!tables_apart_ || parameter.aliases.empty()) return GradientFor(parameter);
  Slot& slot = SlotOf(parameter);
  Tensor& rows = slot.MakeExtras().rows;
  // If nothing else contributes here, the last step's sum is the one that JoinTables made of it.
  if (!rows && !slot.gradient_arrived) std::swap(rows, slot.gradient);
  return Contribute(parameter, rows, slot.rows_arrived);
}

Tensor ParameterStore::Gradient(const Parameter& parameter) const {
  const Slot* slot = FindSlot(parameter);
  return slot != nullptr && slot->gradient_arrived ? slot->gradient : Tensor();
}

void ParameterStore::ClearGradients() {
  for (const auto& slot : slots_) {
    if (!slot) continue;
    slot->gradient_arrived = slot->earlier_arrived = slot->rows_arrived = false;
    slot->contributions = 0;
  }
  touched_.clear();
}

void ParameterStore::FreeGradient(const Parameter& parameter) { SlotOf(parameter).FreeGradients(); }

void ParameterStore::FreeGradients() {
  for (const auto& slot : slots_) {
    if (slot) slot->FreeGradients();
  }
}

std::vector<ParameterStore::GroupSum> ParameterStore::EndGradientGroup() {
  std::vector<GroupSum> sums;
  for (const auto& slot : slots_) {
    if (!slot || !slot->gradient_arrived) continue;
    slot->gradient_arrived = false;
    Tensor& earlier = slot->MakeExtras().earlier;
    if (slot->earlier_arrived) {
      sums.push_back({earlier, slot->gradient});
    } else {
      std::swap(earlier, slot->gradient);
      slot->earlier_arrived = true;
    }
  }
  return sums;
}

void ParameterStore::Join(Slot& slot, std::vector<GroupSum>& sums) {
  if (!std::exchange(slot.rows_arrived, false)) return;
  if (std::exchange(slot.gradient_arrived, true)) {
    sums.push_back({slot.gradient, slot.extras->rows});
  } else {
    std::swap(slot.gradient, slot.extras->rows);
  }
}

std::vector<ParameterStore::GroupSum> ParameterStore::JoinTables() {
  std::vector<GroupSum> sums;
  for (const auto& slot : slots_) {
    if (slot) Join(*slot, sums);
  }
  return sums;
}

std::vector<ParameterStore::GroupSum> ParameterStore::JoinTable(const Parameter& parameter) {
  std::vector<GroupSum> sums;
  Join(SlotOf(parameter), sums);
  return sums;
}

void ParameterStore::JoinGradientGroups() {
  for (const auto& slot : slots_) {
    if (!slot || !slot->earlier_arrived) continue;
    std::swap(slot->extras->earlier, slot->gradient);
    slot->gradient_arrived = true;
    slot->earlier_arrived = false;
  }
}

std::vector<std::int64_t> ParameterStore::Contributions() const {
  std::vector<std::int64_t> counts;
  for (const auto& slot : slots_) counts.push_back(slot ? slot->contributions : 0);
  return counts;
}

void ParameterStore::RepeatContributions(std::span<const std::int64_t> before, std::int64_t times) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i]) continue;
    const std::int64_t base = i < before.size() ? before[i] : 0;
    slots_[i]->contributions = base + times * (slots_[i]->contributions - base);
  }
}

std::vector<std::size_t> ParameterStore::TakeFinal(std::span<const std::int64_t> expected) {
  std::vector<std::size_t> final;
  for (const std::size_t index : touched_) {
    if (index < expected.size() && slots_[index]->contributions == expected[index]) {
      final.push_back(index);
    }
  }
  touched_.clear();
  return final;
}

}  // namespace frugal
