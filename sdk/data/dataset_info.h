#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/core/shape.h"

namespace frugal {

// Four IDX files, plain or gzipped.
struct DatasetFiles {
  std::string train_images;
  std::string train_labels;
  std::string test_images;
  std::string test_labels;
};

// All that planning needs to know about a data set of labelled images, known without a file being
// touched: whether the files agree is found when they are read.
struct DatasetInfo {
  std::string name;
  std::int64_t train_count = 0;
  std::int64_t test_count = 0;
  Shape sample_shape;  // [H, W, C]
  std::int64_t classes = 0;
  std::vector<std::string> class_names;  // one per class, or none
  DatasetFiles files;
  // The classes that are used, where not all are, and how many samples of them the files have.
  // Their labels are then 0, 1, ... in this order. Filled by UseClasses (class_filter.h).
  std::vector<std::int64_t> classes_used = {};
  std::int64_t train_used = 0;
  std::int64_t test_used = 0;

  bool uses_all_classes() const { return classes_used.empty(); }
};

// The images that [data] knows by that name (sdk/data/dataset_registry.h), or nothing.
std::optional<DatasetInfo> NamedDataset(std::string_view name);

// H. Xiao, K. Rasul, R. Vollgraf, "Fashion-MNIST", arXiv:1708.07747, table 2.
DatasetInfo FashionMnist();

// A data set of the user's own. Same fields as a DatasetInfo, all to be given.
struct IdxDataset {
  DatasetFiles files;
  Shape sample_shape;  // [H, W, C]
  std::int64_t train_count = 0;
  std::int64_t test_count = 0;
  std::int64_t classes = 0;
  std::vector<std::string> class_names = {};  // may stay empty
};

// Throws ConfigError, listing all that is wrong, for an empty path, a count, extent or number of
// classes below 1, a shape that is not [H, W, C], and names that are not one per class.
DatasetInfo DescribeDataset(std::string name, const IdxDataset& config);

// The shape that a file of `count` images has: [count, H, W], and [count, H, W, C] for C > 1.
Shape ImagesFileShape(const Shape& sample_shape, std::int64_t count);

// The Debian package that provides the file, or nothing.
std::string PackageProviding(const std::string& path);

}  // namespace frugal
