// This file holds what a store does with optimizer state, and with what it pages.
#include <cassert>
#include <cstring>
#include <utility>

#include "sdk/core/error.h"
#include "sdk/module/parameter_store.h"

namespace frugal {
namespace {

std::int64_t BytesOf(const Shape& shape, DType dtype) {
  return shape.ElementCount() * SizeOf(dtype);
}

}  // namespace

Tensor& ParameterStore::Slot::StateAt(std::size_t which) {
  return which == kAverage ? MakeExtras().average : state[which];
}

const Tensor* ParameterStore::Slot::FindState(std::size_t which) const {
  const Tensor* found = which != kAverage ? &state[which] : extras ? &extras->average : nullptr;
  return found != nullptr && *found ? found : nullptr;
}

// Within a step it is the step's memory, which is planned for it.
Tensor ParameterStore::TakeForPaging(const Parameter& parameter, const PagedTensor& paged,
                                     MemoryTag tag) {
  const HolderScope holder(ledger_, SlotOf(parameter).label);
  Allocator& memory = options_.paging.pager->in_step() ? *options_.step_memory : memory_;
  return Tensor(memory, paged.shape, paged.dtype, tag);
}

void ParameterStore::PageOut(std::unique_ptr<PagedTensor>& paged, const Tensor& tensor) {
  TensorPager& pager = *options_.paging.pager;
  if (!paged) {
    paged = std::make_unique<PagedTensor>(
        PagedTensor{pager.Reserve(tensor.bytes()), tensor.shape(), tensor.dtype()});
  }
  pager.PageOut(paged->place, tensor);
  paged->is_there = true;
}

Tensor ParameterStore::BringValue(const Parameter& parameter) {
  Slot& slot = SlotOf(parameter);
  const PagedTensor form = {.shape = parameter.shape, .dtype = options_.dtype};
  Tensor value = TakeForPaging(parameter, form, MemoryTag::kParameter);
  if (const PagedTensor* paged = slot.FindPagedValue()) {
    options_.paging.pager->PageIn(paged->place, value);
  } else {
    FillValue(parameter, value);
    PageOut(slot.MakeExtras().paged_value, value);
  }
  return value;
}

Tensor ParameterStore::ValueToReplace(const Parameter& parameter) {
  if (!PagesValue(parameter)) return Value(parameter);
  const PagedTensor form = {.shape = parameter.shape, .dtype = options_.dtype};
  return TakeForPaging(parameter, form, MemoryTag::kParameter);
}

void ParameterStore::KeepValue(const Parameter& parameter, const Tensor& value) {
  if (PagesValue(parameter)) PageOut(SlotOf(parameter).MakeExtras().paged_value, value);
}

void ParameterStore::KeepState(const Parameter& parameter, std::size_t which, const Tensor& state) {
  if (!options_.paging.PagesState(state.bytes())) return;
  PageOut(SlotOf(parameter).MakeExtras().paged_state[which], state);
}

Tensor ParameterStore::State(const Parameter& parameter, std::size_t which, Backend& backend) {
  return State(parameter, which, options_.dtype, parameter.shape, backend);
}

Tensor ParameterStore::State(const Parameter& parameter, std::size_t which, DType dtype,
                             const Shape& shape, Backend& backend) {
  if (HasState(parameter, which)) return BringState(parameter, which);
  Tensor state;
  const bool is_paged = options_.paging.PagesState(BytesOf(shape, dtype));
  if (is_paged) {
    state = TakeForPaging(parameter, {.shape = shape, .dtype = dtype}, MemoryTag::kOptimizerState);
  } else {
    const HolderScope holder(ledger_, SlotOf(parameter).label);
    state = Tensor(memory_, shape, dtype, MemoryTag::kOptimizerState);
  }
  if (!options_.dry) backend.elementwise().Fill(state, 0);
  if (!is_paged) SlotOf(parameter).StateAt(which) = state;
  return state;
}

// Returns one that is there.
Tensor ParameterStore::BringState(const Parameter& parameter, std::size_t which) {
  Slot& slot = SlotOf(parameter);
  if (const Tensor* resident = slot.FindState(which)) return *resident;
  const PagedTensor& paged = *slot.FindPagedState(which);
  Tensor state = TakeForPaging(parameter, paged, MemoryTag::kOptimizerState);
  options_.paging.pager->PageIn(paged.place, state);
  return state;
}

Tensor ParameterStore::ResidentState(const Parameter& parameter, std::size_t which) const {
  const Slot* slot = FindSlot(parameter);
  const Tensor* resident = slot == nullptr ? nullptr : slot->FindState(which);
  return resident == nullptr ? Tensor() : *resident;
}

std::optional<PagedTensor> ParameterStore::PagedValue(const Parameter& parameter) const {
  const Slot* slot = FindSlot(parameter);
  const PagedTensor* paged = slot == nullptr ? nullptr : slot->FindPagedValue();
  return paged == nullptr ? std::nullopt : std::optional(*paged);
}

std::optional<PagedTensor> ParameterStore::PagedState(const Parameter& parameter,
                                                      std::size_t which) const {
  const Slot* slot = FindSlot(parameter);
  const PagedTensor* paged = slot == nullptr ? nullptr : slot->FindPagedState(which);
  return paged == nullptr || !paged->is_there ? std::nullopt : std::optional(*paged);
}

std::vector<Holder> ParameterStore::PagedTensors() const {
  std::vector<Holder> tensors;
  for (const auto& slot : slots_) {
    if (!slot || !slot->extras) continue;
    const std::string& path = slot->identity ? slot->identity->path : slot->owner->path;
    const auto add = [&](const std::unique_ptr<PagedTensor>& paged, MemoryTag tag) {
      if (paged) tensors.push_back({path, tag, BytesOf(paged->shape, paged->dtype)});
    };
    add(slot->extras->paged_value, MemoryTag::kParameter);
    for (const auto& state : slot->extras->paged_state) add(state, MemoryTag::kOptimizerState);
  }
  return MergeHolders(std::move(tensors));
}

bool ParameterStore::HasState(const Parameter& parameter, std::size_t which) const {
  const Slot* slot = FindSlot(parameter);
  if (slot == nullptr) return false;
  const PagedTensor* paged = slot->FindPagedState(which);
  return slot->FindState(which) != nullptr || (paged != nullptr && paged->is_there);
}

void ParameterStore::DropState(const Parameter& parameter, std::size_t which) {
  Slot& slot = SlotOf(parameter);
  slot.StateAt(which) = Tensor();
  if (slot.extras && slot.extras->paged_state[which]) {
    slot.extras->paged_state[which]->is_there = false;
  }
}

Tensor ParameterStore::CopyOf(const Tensor& tensor, const Parameter& parameter, MemoryTag tag) {
  Tensor copy = Take(memory_, parameter, tag);
  CopyInto(tensor, copy);
  return copy;
}

void ParameterStore::CopyInto(const Tensor& tensor, const Tensor& copy) const {
  assert(copy.dtype() == tensor.dtype() && copy.bytes() == tensor.bytes());
  if (options_.dry) return;
  std::memcpy(copy.raw(), tensor.raw(), static_cast<std::size_t>(copy.bytes()));
}

void ParameterStore::CopyFrom(ParameterStore& other, const Parameter& parameter) {
  if (!other.IsMaterialized(parameter)) return;
  Slot& slot = SlotOf(parameter);
  const Tensor value = other.Value(parameter);
  if (PagesValue(parameter)) {
    PageOut(slot.MakeExtras().paged_value, value);
  } else {
    slot.value = CopyOf(value, parameter, MemoryTag::kParameter);
  }
  if (!other.HasState(parameter, kAverage)) return;
  const Tensor average = other.BringState(parameter, kAverage);
  if (options_.paging.PagesState(average.bytes())) {
    PageOut(slot.MakeExtras().paged_state[kAverage], average);
  } else {
    slot.StateAt(kAverage) = CopyOf(average, parameter, MemoryTag::kOptimizerState);
  }
}

// Values that are paged have averages that are, but not the other way round.
void ParameterStore::SwapEma(const Parameter& parameter, Backend& backend) {
  if (!HasState(parameter, kAverage)) return;
  Slot& slot = SlotOf(parameter);
  Extras& extras = *slot.extras;
  std::unique_ptr<PagedTensor>& paged = extras.paged_state[kAverage];
  if (extras.paged_value) {
    std::swap(extras.paged_value, paged);
  } else if (!paged) {
    std::swap(slot.value, extras.average);
  } else {
    const Tensor average = BringState(parameter, kAverage);
    KeepState(parameter, kAverage, slot.value);
    CopyInto(average, slot.value);
  }
  Repack(parameter, backend);
}

}  // namespace frugal
