#include "builders/dataset.h"

#include "sdk/core/error.h"

namespace frugal {
namespace {

std::string Join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

struct Part {
  const char* key;
  bool given;
};

DatasetInfo OwnDataset(const DataOptions& options) {
  std::vector<std::string> missing;
  for (const Part& part :
       {Part{"train_images", options.train_images.has_value()},
        Part{"train_labels", options.train_labels.has_value()},
        Part{"test_images", options.test_images.has_value()},
        Part{"test_labels", options.test_labels.has_value()},
        Part{"sample_shape", options.sample_shape.has_value()},
        Part{"train_count", options.train_count.has_value()},
        Part{"test_count", options.test_count.has_value()},
        Part{"classes", options.classes.has_value()}}) {
    if (!part.given) missing.emplace_back(part.key);
  }
  if (!missing.empty()) {
    throw ConfigError({.where = "data",
                       .required = "a built-in data set (" + Join(NamedDatasets()) +
                                   ") or all of one's own files and sizes",
                       .given = "dataset = \"" + options.dataset + "\" is not built in, and " +
                                Join(missing) + " are missing",
                       .advice = "name a built-in data set or give the missing keys"});
  }
  return DescribeDataset(options.dataset,
                         {.files = {*options.train_images, *options.train_labels,
                                    *options.test_images, *options.test_labels},
                          .sample_shape = Shape(*options.sample_shape),
                          .train_count = *options.train_count,
                          .test_count = *options.test_count,
                          .classes = *options.classes});
}

// Single files or sizes beside a built-in data set replace its own.
void Replace(const DataOptions& options, DatasetInfo& info) {
  if (options.train_images) info.files.train_images = *options.train_images;
  if (options.train_labels) info.files.train_labels = *options.train_labels;
  if (options.test_images) info.files.test_images = *options.test_images;
  if (options.test_labels) info.files.test_labels = *options.test_labels;
  if (options.sample_shape) info.sample_shape = Shape(*options.sample_shape);
  if (options.train_count) info.train_count = *options.train_count;
  if (options.test_count) info.test_count = *options.test_count;
  if (options.classes) info.classes = *options.classes;
}

}  // namespace

DatasetInfo DatasetOf(const DataOptions& options) {
  std::optional<DatasetInfo> info = NamedDataset(options.dataset);
  if (!info) return OwnDataset(options);
  Replace(options, *info);
  return *info;
}

Normalization NormalizationOf(const DataOptions& options, const DatasetInfo& info) {
  const auto channels = static_cast<std::size_t>(info.sample_shape.back());
  return {std::vector<double>(channels, options.mean),
          std::vector<double>(channels, options.deviation)};
}

}  // namespace frugal
