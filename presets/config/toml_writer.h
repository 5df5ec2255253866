#pragma once

#include <string>

#include "presets/config/field.h"

namespace frugal {

struct WriteOptions {
  bool with_docs = false;   // each field's line of documentation above it, as a comment
  bool with_header = true;  // `[path]` first
};

// A struct as a TOML table, with every field written out; reading it again gives an equal struct.
// Absent fields are left out, or written as "none" where the default is present. Throws
// ConfigError for text that TOML cannot hold: invalid UTF-8, or the word none in an optional field.
std::string WriteFields(const FieldTable& table, const void* object, const std::string& path,
                        const WriteOptions& options = {});

}  // namespace frugal
