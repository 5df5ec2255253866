#pragma once

#include <string>
#include <vector>

#include "builders/config/dataset.h"
#include "builders/config/run_config.h"
#include "sdk/io/weights/weight_source.h"

namespace frugal {

// Describes a trained network for the metadata of its weight file, beside `format = "pt"`, which
// others' loaders ask for. All values are texts:
//
//   frugal.version       of the library that wrote the file
//   frugal.config        TOML: the network, its loss, precision and data (UseText)
//   frugal.input         JSON: sample_shape, vocabulary, classes, label_shape, target_shape,
//                        conditions and more_targets, as in DataLayout
//   frugal.class_names   JSON: a list, where the classes have names
//   frugal.own           what of these the program brought: "data", "loss", "data loss"
//   frugal.undescribed   in place of frugal.config: why no text describes the network
//
// `dataset` is null where the program brings its own data. How memory was used is not in it: equal
// weights give equal files under every memory policy.
WeightMetadata DescribeWeights(const RunConfig& config, const DataLayout& layout,
                               const DatasetDescription* dataset);

// Holds what a weight file tells of its network.
struct WeightsDescription {
  RunConfig config;                        // of training it has what evaluations take
  DataLayout layout;                       // without counts
  std::vector<std::string> class_names{};  // one for each class, or none
  bool own_data = false;                   // the program brought them
  bool own_loss = false;
};

// One name for each class, or none. Throws nlohmann's error where DescribeWeights did not make it.
std::vector<std::string> ClassNamesIn(const WeightMetadata& metadata);

// Reads the description, with overrides "section.key=value" on top. With `evaluates`, [data] must
// name data that are there. Throws WeightFileError where the file describes no network or is not as
// DescribeWeights makes it, and ConfigError as ReadRunConfigText does.
WeightsDescription ReadWeightsDescription(const WeightSource& file,
                                          const std::vector<std::string>& overrides = {},
                                          bool evaluates = false);

}  // namespace frugal
