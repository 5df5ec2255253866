#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sdk/core/memory_tag.h"

namespace frugal {

// Bytes by the purpose's name, all purposes; the form in which JSON files hold them.
inline std::map<std::string, std::int64_t> NamedBytes(const BytesByTag& bytes) {
  std::map<std::string, std::int64_t> named;
  for (const MemoryTag tag : kAllMemoryTags) named[std::string(NameOf(tag))] = bytes[tag];
  return named;
}

}  // namespace frugal
