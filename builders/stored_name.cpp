#include "builders/stored_name.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace frugal {
namespace {

std::set<std::string> FirstComponents(const WeightSource& file) {
  std::set<std::string> components;
  for (const StoredTensor& entry : file.Entries()) {
    components.insert(entry.name.substr(0, entry.name.find('.')));
  }
  return components;
}

// A layer of a list, which no model is called: "0.weight" and "2.0.weight" are different layers.
bool IsNumber(const std::string& component) {
  return component.find_first_not_of("0123456789") == std::string::npos;
}

const StoredTensor* FindPath(const WeightSource& file, const std::string& path) {
  if (const StoredTensor* stored = file.Find(path)) return stored;
  const auto dot = path.find('.');
  if (dot == std::string::npos || IsNumber(path.substr(0, dot))) return nullptr;
  if (const StoredTensor* stored = file.Find(path.substr(dot + 1))) return stored;
  for (const std::string& base : FirstComponents(file)) {
    if (IsNumber(base)) continue;
    if (const StoredTensor* stored = file.Find(base + "." + path)) return stored;
  }
  return nullptr;
}

}  // namespace

const StoredTensor* FindStored(const WeightSource& file, const Parameter& parameter) {
  if (const StoredTensor* stored = FindPath(file, parameter.path)) return stored;
  for (const std::string& alias : parameter.aliases) {
    if (const StoredTensor* stored = FindPath(file, alias)) return stored;
  }
  return nullptr;
}

bool HoldsNothingLearned(const StoredTensor& stored) {
  constexpr std::array<std::string_view, 4> kNames = {"num_batches_tracked", "position_ids",
                                                      "rotary_emb.inv_freq", "attn.masked_bias"};
  const bool is_mask = stored.name.ends_with("attn.bias") && stored.shape.rank() == 4;
  return is_mask || std::ranges::any_of(
                        kNames, [&](std::string_view name) { return stored.name.ends_with(name); });
}

}  // namespace frugal
