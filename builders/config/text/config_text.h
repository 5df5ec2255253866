#pragma once

#include <functional>
#include <optional>
#include <string>

#include "builders/config/run_config.h"
#include "presets/config/field.h"
#include "presets/config/value.h"

namespace frugal {

// Tells why no text describes the configuration's network: a function of the program makes it, or a
// layer of it whose type has no registered name. Returns nothing where a text does.
std::optional<std::string> WhyUndescribed(const ModelOptions& model);

// "name = value", with "none" for no value.
std::string Assignment(const std::string& name, const Value& value);

// Says which fields of a section count, by their names.
using KeyFilter = std::function<bool(const std::string& name)>;
// One line for each value that counts and differs from its default.
std::string ChangedLines(const FieldTable& table, const void* object, const KeyFilter& counts);
// The lines below "[name]"; nothing where there are none.
std::string SectionText(const std::string& name, const std::string& lines);

// Writes [model] of a network that a text describes.
std::string ModelText(const ModelOptions& model);

// Writes what a network and its use take of a configuration, as TOML that ReadRunConfigText reads
// with the same outcome: [model] with its layers or sizes, [loss], [diffusion], and of [training]
// precision, backend, evaluation_batch_size and metrics. [data] has all of its values that
// evaluations take, or, with data of the program's own, mean and std alone. Values at their
// defaults are left out, but for those of layers and architectures. The network must be one that a
// text describes.
std::string UseText(const RunConfig& config, bool own_data);

}  // namespace frugal
