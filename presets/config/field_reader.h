#pragma once

#include <optional>
#include <string>
#include <vector>

#include "presets/config/config_node.h"
#include "presets/config/diagnostics.h"
#include "presets/config/field.h"
#include "presets/config/origins.h"

namespace frugal {

// Reads the keys of a configuration table into the struct that the field table describes. What the
// keys do not mention keeps its value. Optional fields become absent by `key = "none"`.
//
// Every wrong key or value becomes a diagnostic, at every depth, and leaves its field as it was;
// every right one is noted in `origins` under `path.key`. `path` is the dotted name of the table,
// as it is written in the file: "memory", "model.layers.0". Keys that somebody else reads are named
// in `other_keys`: they are allowed, and suggested where they are near.
void ReadFields(const FieldTable& table, void* object, const ConfigNode& node,
                const std::string& path, Origins& origins, Diagnostics& diagnostics,
                const std::vector<std::string>& other_keys = {});

// Complains about the keys of a table that are not among the known ones.
void CheckKeys(const ConfigNode& node, const std::vector<std::string>& known,
               const std::string& path, Diagnostics& diagnostics);

// The value of one node for one field; none with a diagnostic where it does not fit. For keys that
// are read on their own, such as the kind of a layer.
std::optional<Value> ReadValue(const Field& field, const ConfigNode& node, const std::string& path,
                               Diagnostics& diagnostics);

}  // namespace frugal
