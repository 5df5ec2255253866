#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sdk/data/data_source.h"

namespace frugal {

// Says which labels are right.
struct LabelRule {
  bool checked = true;                  // false: whatever is below or above
  std::optional<std::int64_t> ignored;  // right beside those in [0, classes)
};

// The rules of DataLayout's own targets and of each of its more_targets; what has none is as above.
struct LabelRules {
  LabelRule own{};
  std::vector<LabelRule> more{};
};

// Returns a source of a program's own that is looked at as it is read: samples that are asked for
// lie below count(), labels and tokens where the layout says, and the first batch leaves no value
// unwritten. Otherwise a DataError names the sample. One that is looked at already, or null, is
// returned as it is.
std::shared_ptr<const DataSource> Checked(std::shared_ptr<const DataSource> source,
                                          const DataLayout& layout, const LabelRules& labels = {});

}  // namespace frugal
