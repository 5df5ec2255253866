#include "sdk/backend/onednn/primitive/packed_weight.h"

#include "sdk/backend/onednn/primitive/library_error.h"
#include "sdk/backend/onednn/primitive/recipes.h"

namespace frugal::onednn {

std::int64_t PackedWeightBytes(std::int64_t inputs, std::int64_t outputs) {
  return static_cast<std::int64_t>(PackedWeight(inputs, outputs).get_size());
}

bool IsPackedInTiles(std::int64_t inputs, std::int64_t outputs) {
  try {
    return PackedWeight(inputs, outputs) ==
           Describe({inputs, outputs}, Tag::BA16a64b2a, DType::kBF16);
  } catch (const dnnl::error& error) {
    ThrowIfOutOfMemory(error);
    return false;
  }
}

}  // namespace frugal::onednn
