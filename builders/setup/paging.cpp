#include "builders/setup/paging.h"

#include "sdk/core/byte_size.h"
#include "sdk/io/paging/disk_pager.h"

namespace frugal {

PagedKinds PagedKindsOf(const TrainingMemoryConfig& memory) {
  return memory.memory_page_file ? memory.memory_page_kinds : PagedKinds::kNone;
}

std::int64_t PagedActivationBytesOf(const TrainingMemoryConfig& memory) {
  return memory.memory_page_file ? memory.memory_page_activations_mb * kBytesPerMegabyte : 0;
}

std::int64_t PageBufferBytesOf(const TrainingMemoryConfig& memory) {
  return memory.memory_page_file ? memory.memory_page_buffer_mb * kBytesPerMegabyte : 0;
}

std::int64_t LeastPagedBytesOf(const TrainingMemoryConfig& memory) {
  return memory.memory_page_least_kb << 10;
}

ParameterPaging PagingBy(TensorPager* pager, PagedKinds kinds, const TrainingMemoryConfig& memory) {
  return {.pager = pager,
          .values = kinds >= PagedKinds::kWeights,
          .states = kinds >= PagedKinds::kOptimizerState,
          .least_bytes = LeastPagedBytesOf(memory)};
}

std::string PageFileOf(const TrainingMemoryConfig& memory, const StageSetup* stage) {
  const std::string& stated = *memory.memory_page_file;
  return stage == nullptr ? stated : stated + "." + std::to_string(stage->stage.device());
}

Tensor TakePageBuffer(std::int64_t bytes, Allocator& allocator, MemoryLedger& ledger) {
  const HolderScope holder(ledger, "page file");
  return Tensor(allocator, {DiskPager::BufferBytes(bytes)}, DType::kU8, MemoryTag::kPaging);
}

}  // namespace frugal
