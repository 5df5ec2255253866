#include "sdk/data/dataset_info.h"

#include <algorithm>
#include <utility>

#include "sdk/core/error.h"

namespace frugal {
namespace {

constexpr std::string_view kFashionMnistDirectory = "/usr/share/datasets/fashion-mnist/";

DatasetFiles FilesIn(std::string_view directory) {
  const std::string prefix(directory);
  return {.train_images = prefix + "train-images-idx3-ubyte.gz",
          .train_labels = prefix + "train-labels-idx1-ubyte.gz",
          .test_images = prefix + "t10k-images-idx3-ubyte.gz",
          .test_labels = prefix + "t10k-labels-idx1-ubyte.gz"};
}

// Collects what is wrong with a description, one line each.
class DatasetProblems {
 public:
  explicit DatasetProblems(std::string where) : where_(std::move(where)) {}

  void Add(std::string required, std::string given) {
    if (!text_.empty()) text_ += "\n";
    text_ += Describe({.where = where_,
                       .required = std::move(required),
                       .given = std::move(given),
                       .advice = {}});
  }

  void AddBelowOne(const std::string& what, std::int64_t value) {
    if (value < 1) Add(what + " is at least 1", std::to_string(value) + " was given");
  }

  void Throw() const {
    if (!text_.empty()) throw ConfigError(text_);
  }

 private:
  std::string where_;
  std::string text_;
};

void CheckFiles(const DatasetFiles& files, DatasetProblems& problems) {
  const std::pair<const char*, const std::string&> named[] = {{"train_images", files.train_images},
                                                              {"train_labels", files.train_labels},
                                                              {"test_images", files.test_images},
                                                              {"test_labels", files.test_labels}};
  for (const auto& [name, path] : named) {
    if (path.empty())
      problems.Add(std::string(name) + " is the path of an IDX file", "it is empty");
  }
}

void CheckShape(const Shape& shape, DatasetProblems& problems) {
  const bool positive =
      std::ranges::all_of(shape.extents(), [](auto extent) { return extent > 0; });
  if (shape.rank() == 3 && positive) return;
  problems.Add("the shape of a sample is [height, width, channels], each at least 1",
               ToString(shape) + " was given");
}

}  // namespace

DatasetInfo FashionMnist() {
  return {.name = "fashion-mnist",
          .train_count = 60000,
          .test_count = 10000,
          .sample_shape = {28, 28, 1},
          .classes = 10,
          .class_names = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt",
                          "Sneaker", "Bag", "Ankle boot"},
          .files = FilesIn(kFashionMnistDirectory)};
}

DatasetInfo DescribeDataset(std::string name, const IdxDataset& config) {
  DatasetProblems problems(name);
  CheckFiles(config.files, problems);
  CheckShape(config.sample_shape, problems);
  problems.AddBelowOne("the number of training samples", config.train_count);
  problems.AddBelowOne("the number of test samples", config.test_count);
  problems.AddBelowOne("the number of classes", config.classes);
  if (!config.class_names.empty() && std::ssize(config.class_names) != config.classes) {
    problems.Add("there are no class names, or one per class: " + std::to_string(config.classes),
                 std::to_string(config.class_names.size()) + " were given");
  }
  problems.Throw();
  return {.name = std::move(name),
          .train_count = config.train_count,
          .test_count = config.test_count,
          .sample_shape = config.sample_shape,
          .classes = config.classes,
          .class_names = config.class_names,
          .files = config.files};
}

Shape ImagesFileShape(const Shape& sample_shape, std::int64_t count) {
  if (sample_shape[2] == 1) return {count, sample_shape[0], sample_shape[1]};
  return {count, sample_shape[0], sample_shape[1], sample_shape[2]};
}

std::string PackageProviding(const std::string& path) {
  return path.starts_with(kFashionMnistDirectory) ? "dataset-fashion-mnist" : "";
}

}  // namespace frugal
