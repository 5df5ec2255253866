#include "sdk/module/parameter_store.h"

namespace frugal {
namespace {

// Memory taken in this scope is held in the parameter's name.
class NameScope {
 public:
  NameScope(MemoryLedger& ledger, const Parameter& parameter)
      : ledger_(ledger), previous_(ledger.label()) {
    ledger_.SetLabel(ledger_.labels().Intern(parameter.path));
  }
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
  ~NameScope() { ledger_.SetLabel(previous_); }

 private:
  MemoryLedger& ledger_;
  LabelTable::Id previous_;
};

}  // namespace

ParameterStore::Slot& ParameterStore::SlotOf(const Parameter& parameter) {
  if (parameter.index >= slots_.size()) slots_.resize(parameter.index + 1);
  return slots_[parameter.index];
}

const ParameterStore::Slot* ParameterStore::FindSlot(const Parameter& parameter) const {
  return parameter.index < slots_.size() ? &slots_[parameter.index] : nullptr;
}

Tensor ParameterStore::Take(const Parameter& parameter, MemoryTag tag) {
  const NameScope name(ledger_, parameter);
  return Tensor(memory_, parameter.shape, options_.dtype, tag);
}

void ParameterStore::FillValue(const Parameter& parameter, const Tensor& value) {
  if (options_.dry) return;
  if (source_ && source_(parameter, value)) return;
  const bool zero = options_.start_at_zero && parameter.trainable;
  Initialize(zero ? Initializer::Zero() : parameter.initializer, options_.seed, parameter.path,
             value);
}

const Tensor& ParameterStore::Value(const Parameter& parameter) {
  Slot& slot = SlotOf(parameter);
  if (!slot.value) {
    Tensor value = Take(parameter, MemoryTag::kParameter);
    FillValue(parameter, value);
    slot.value = std::move(value);
  }
  return slot.value;
}

bool ParameterStore::IsMaterialized(const Parameter& parameter) const {
  const Slot* slot = FindSlot(parameter);
  return slot != nullptr && slot->value;
}

GradientTarget ParameterStore::GradientFor(const Parameter& parameter) {
  Slot& slot = SlotOf(parameter);
  if (!slot.gradient) slot.gradient = Take(parameter, MemoryTag::kGradient);
  return {slot.gradient, std::exchange(slot.gradient_arrived, true)};
}

Tensor ParameterStore::Gradient(const Parameter& parameter) const {
  const Slot* slot = FindSlot(parameter);
  return slot != nullptr && slot->gradient_arrived ? slot->gradient : Tensor();
}

void ParameterStore::ClearGradients() {
  for (Slot& slot : slots_) slot.gradient_arrived = false;
}

const Tensor& ParameterStore::State(const Parameter& parameter, std::size_t which,
                                    Backend& backend) {
  Tensor& state = SlotOf(parameter).state[which];
  if (!state) {
    Tensor fresh = Take(parameter, MemoryTag::kOptimizerState);
    if (!options_.dry) backend.elementwise().Fill(fresh, 0);
    state = std::move(fresh);
  }
  return state;
}

bool ParameterStore::HasState(const Parameter& parameter, std::size_t which) const {
  const Slot* slot = FindSlot(parameter);
  return slot != nullptr && slot->state[which];
}

}  // namespace frugal
