#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/core/own_options.h"
#include "sdk/core/registry.h"
#include "sdk/data/data_source.h"
#include "sdk/data/dataset_info.h"

namespace frugal {

// A data set that [data] dataset names: images in IDX files, which we read into planned memory, or
// two functions of a program. What a source of a program's own holds in memory is the program's: no
// plan counts it. Of several devices, each opens a source for itself.
struct DatasetRow {
  std::string name;      // "fashion-mnist"
  std::string doc = "";  // one sentence
  std::optional<DatasetInfo> images = {};
  std::vector<std::string> class_names = {};  // one per class, or none; images have theirs
  OwnOptions options = {};                    // the default ones, where it has any
  // Returns what the data look like by the options. Called for each plan; reads no data.
  std::function<DataLayout(const OwnOptions& options)> layout = nullptr;
  // Opens a part that the layout announces samples of, as many as it announces.
  std::function<std::shared_ptr<const DataSource>(const OwnOptions& options, DatasetPart part)>
      open = nullptr;

  bool is_of_program() const { return !images; }
};

// Ours, and those that programs add: Datasets().Add({.name = "letters", .images = info}), or
// RegisterDataset (builders/config/dataset_registry.h). Threads: as Registry.
Registry<DatasetRow>& Datasets();

// Throws UsageError where a row is of a program and lacks a function.
void RequireFunctions(const DatasetRow& row);

// Returns null where there is none of that name; '_' counts as '-'.
const DatasetRow* FindDataset(std::string_view name);

}  // namespace frugal
