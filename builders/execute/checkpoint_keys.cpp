#include "builders/execute/checkpoint_keys.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace frugal {
namespace {

// A layer of a list, which no model is called: "0.weight" and "2.0.weight" are different layers.
bool StartsWithNumber(std::string_view path) {
  const std::string_view component = path.substr(0, path.find('.'));
  return component.find_first_not_of("0123456789") == std::string_view::npos;
}

const StoredTensor* FindPath(const WeightSource& file, const std::string& path) {
  if (const StoredTensor* stored = file.Find(path)) return stored;
  const auto dot = path.find('.');
  if (dot == std::string::npos || StartsWithNumber(path)) return nullptr;
  if (const StoredTensor* stored = file.Find(path.substr(dot + 1))) return stored;
  for (const StoredTensor* stored : file.FindBelow(path)) {
    if (!StartsWithNumber(stored->name)) return stored;
  }
  return nullptr;
}

}  // namespace

const StoredTensor* FindCheckpointKey(const WeightSource& file, const Parameter& parameter) {
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
