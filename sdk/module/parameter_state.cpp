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
  if (slot.paged_value) {
    options_.paging.pager->PageIn(slot.paged_value->place, value);
  } else {
    FillValue(parameter, value);
    PageOut(slot.paged_value, value);
  }
  return value;
}

void ParameterStore::KeepValue(const Parameter& parameter, const Tensor& value) {
  if (PagesValue(parameter)) PageOut(SlotOf(parameter).paged_value, value);
}

void ParameterStore::KeepState(const Parameter& parameter, std::size_t which, const Tensor& state) {
  if (!options_.paging.PagesState(state.bytes())) return;
  PageOut(SlotOf(parameter).paged_state[which], state);
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
  if (!is_paged) SlotOf(parameter).state[which] = state;
  return state;
}

// Returns one that is there.
Tensor ParameterStore::BringState(const Parameter& parameter, std::size_t which) {
  Slot& slot = SlotOf(parameter);
  if (slot.state[which]) return slot.state[which];
  const PagedTensor& paged = *slot.paged_state[which];
  Tensor state = TakeForPaging(parameter, paged, MemoryTag::kOptimizerState);
  options_.paging.pager->PageIn(paged.place, state);
  return state;
}

Tensor ParameterStore::ResidentState(const Parameter& parameter, std::size_t which) const {
  const Slot* slot = FindSlot(parameter);
  return slot == nullptr ? Tensor() : slot->state[which];
}

std::optional<PagedTensor> ParameterStore::PagedValue(const Parameter& parameter) const {
  const Slot* slot = FindSlot(parameter);
  if (slot == nullptr || !slot->paged_value) return std::nullopt;
  return *slot->paged_value;
}

std::optional<PagedTensor> ParameterStore::PagedState(const Parameter& parameter,
                                                      std::size_t which) const {
  const Slot* slot = FindSlot(parameter);
  if (slot == nullptr || !slot->paged_state[which] || !slot->paged_state[which]->is_there) {
    return std::nullopt;
  }
  return *slot->paged_state[which];
}

std::vector<Holder> ParameterStore::PagedTensors() const {
  std::vector<Holder> tensors;
  for (const auto& slot : slots_) {
    if (!slot) continue;
    const auto add = [&](const std::unique_ptr<PagedTensor>& paged, MemoryTag tag) {
      if (paged) tensors.push_back({slot->path, tag, BytesOf(paged->shape, paged->dtype)});
    };
    add(slot->paged_value, MemoryTag::kParameter);
    for (const auto& state : slot->paged_state) add(state, MemoryTag::kOptimizerState);
  }
  return MergeHolders(std::move(tensors));
}

bool ParameterStore::HasState(const Parameter& parameter, std::size_t which) const {
  const Slot* slot = FindSlot(parameter);
  if (slot == nullptr) return false;
  const PagedTensor* paged = slot->paged_state[which].get();
  return slot->state[which] || (paged != nullptr && paged->is_there);
}

void ParameterStore::DropState(const Parameter& parameter, std::size_t which) {
  Slot& slot = SlotOf(parameter);
  slot.state[which] = Tensor();
  if (slot.paged_state[which]) slot.paged_state[which]->is_there = false;
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
    PageOut(slot.paged_value, value);
  } else {
    slot.value = CopyOf(value, parameter, MemoryTag::kParameter);
  }
  if (!other.HasState(parameter, kAverage)) return;
  const Tensor average = other.BringState(parameter, kAverage);
  if (options_.paging.PagesState(average.bytes())) {
    PageOut(slot.paged_state[kAverage], average);
  } else {
    slot.state[kAverage] = CopyOf(average, parameter, MemoryTag::kOptimizerState);
  }
}

// Values that are paged have averages that are, but not the other way round.
void ParameterStore::SwapEma(const Parameter& parameter, Backend& backend) {
  if (!HasState(parameter, kAverage)) return;
  Slot& slot = SlotOf(parameter);
  std::unique_ptr<PagedTensor>& paged = slot.paged_state[kAverage];
  if (slot.paged_value) {
    std::swap(slot.paged_value, paged);
  } else if (!paged) {
    std::swap(slot.value, slot.state[kAverage]);
  } else {
    const Tensor average = BringState(parameter, kAverage);
    KeepState(parameter, kAverage, slot.value);
    CopyInto(average, slot.value);
  }
  Repack(parameter, backend);
}

}  // namespace frugal
