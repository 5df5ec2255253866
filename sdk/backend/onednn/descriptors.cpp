#include "sdk/backend/onednn/descriptors.h"

#include <string_view>
#include <utility>

#include "sdk/backend/onednn/recipes.h"

namespace frugal::onednn {
namespace {

bool IsReferenceLoop(const Recipe& recipe) {
  const std::string_view name = recipe.descriptor.impl_info_str();
  return name.substr(0, 3) == "ref" || name.find(":ref") != std::string_view::npos;
}

}  // namespace

std::unique_ptr<Operation> Describe(const Description& description) {
  try {
    Recipe recipe = std::visit([](const auto& d) { return MakeRecipe(d); }, description);
    if (IsReferenceLoop(recipe)) return nullptr;
    return MakeOperation(std::move(recipe));
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return nullptr;
  }
}

std::int64_t PackedWeightBytes(std::int64_t inputs, std::int64_t outputs) {
  return static_cast<std::int64_t>(PackedWeight(inputs, outputs).get_size());
}

void LimitPrimitiveCache(int capacity) { dnnl::set_primitive_cache_capacity(capacity); }

}  // namespace frugal::onednn
