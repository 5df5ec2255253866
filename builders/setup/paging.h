#pragma once

#include <cstdint>
#include <string>

#include "builders/setup/stage_setup.h"
#include "presets/training_memory_config.h"
#include "sdk/memory/ledger.h"
#include "sdk/module/parameter_paging.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

// Returns what the configuration pages: nothing without a page file.
PagedKinds PagedKindsOf(const TrainingMemoryConfig& memory);

// Returns at most how many bytes of activations it pages in a part of a batch.
std::int64_t PagedActivationBytesOf(const TrainingMemoryConfig& memory);

// Returns how many bytes it reads ahead and writes behind: 0 without a page file.
std::int64_t PageBufferBytesOf(const TrainingMemoryConfig& memory);

// Smaller tensors stay in memory.
std::int64_t LeastPagedBytesOf(const TrainingMemoryConfig& memory);

// Returns the same for a store of parameters that pages by `pager`.
ParameterPaging PagingBy(TensorPager* pager, PagedKinds kinds, const TrainingMemoryConfig& memory);

// Returns the path of a device's page file: the one that is stated, or among several devices that
// with the device's number behind it.
std::string PageFileOf(const TrainingMemoryConfig& memory, const StageSetup* stage);

// Takes the memory through which tensors go to the page file and back, for so many bytes of them.
Tensor TakePageBuffer(std::int64_t bytes, Allocator& allocator, MemoryLedger& ledger);

}  // namespace frugal
