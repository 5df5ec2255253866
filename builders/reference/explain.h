#pragma once

#include <string>
#include <vector>

namespace frugal {

// Tells what a name stands for: a key ("optimizer.lr", or "lr" alone), a section, a type of layer
// ("conv2d", "conv2d.kernel"), a family, a published model, a memory preset, a metric, or a kind of
// loss, optimizer or schedule. A name of several things gets all of them. Throws ConfigError, with
// the nearest name, where it stands for nothing.
std::string ExplainText(const std::string& name);

// The names that it knows, in one order.
std::vector<std::string> ExplainableNames();

// A value that the field takes, as TOML: its default where it has one.
struct ReferenceRow;
std::string ExampleValue(const ReferenceRow& row);

}  // namespace frugal
