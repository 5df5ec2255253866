#include "sdk/data/dataset_info.h"

#include "sdk/core/error.h"
#include "sdk/data/dataset_registry.h"
#include "sdk/data/gzip_idx.h"
#include "sdk/data/image_decode.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

TEST_CASE("Fashion-MNIST is known by name", "[data]") {
  for (const char* name : {"fashion-mnist", "fashion_mnist"}) {
    const auto info = NamedDataset(name);
    REQUIRE(info);
    CHECK(info->name == "fashion-mnist");
    CHECK(info->train_count == 60000);
    CHECK(info->test_count == 10000);
    CHECK(info->sample_shape == Shape{28, 28, 1});
    CHECK(info->classes == 10);
    CHECK(info->class_names.size() == 10);
    CHECK(info->class_names[9] == "Ankle boot");
    CHECK(PackageProviding(info->files.test_labels) == "dataset-fashion-mnist");
  }
  CHECK(!NamedDataset("mnist"));
  CHECK(!NamedDataset(""));
  for (const DatasetRow* row : Datasets().Rows()) CHECK(NamedDataset(row->name)->name == row->name);
  CHECK(PackageProviding("elsewhere/train-images-idx3-ubyte.gz").empty());
}

IdxDataset OwnData() {
  return {.files = {"a", "b", "c", "d"},
          .sample_shape = {8, 6, 3},
          .train_count = 5,
          .test_count = 2,
          .classes = 2,
          .class_names = {"no", "yes"}};
}

TEST_CASE("a data set of one's own is described by hand", "[data]") {
  const DatasetInfo info = DescribeDataset("mine", OwnData());
  CHECK(info.name == "mine");
  CHECK(info.train_count == 5);
  CHECK(info.test_count == 2);
  CHECK(info.sample_shape == Shape{8, 6, 3});
  CHECK(info.classes == 2);
  CHECK(info.class_names == std::vector<std::string>{"no", "yes"});
  CHECK(info.files.train_images == "a");
  CHECK(info.files.test_labels == "d");
  CHECK(ImagesFileShape(info.sample_shape, 5) == Shape{5, 8, 6, 3});
  CHECK(ImagesFileShape({8, 6, 1}, 5) == Shape{5, 8, 6});
}

TEST_CASE("all that is wrong with a description is said at once", "[data]") {
  IdxDataset config = OwnData();
  config.files.test_images = "";
  config.sample_shape = {8, 0, 3};
  config.train_count = 0;
  config.test_count = -1;
  config.classes = 3;
  CHECK_THROWS_WITH(
      DescribeDataset("mine", config),
      "[mine] test_images is the path of an IDX file; it is empty\n"
      "[mine] the shape of a sample is [height, width, channels], each at least 1; [8, 0, 3] was "
      "given\n"
      "[mine] the number of training samples is at least 1; 0 was given\n"
      "[mine] the number of test samples is at least 1; -1 was given\n"
      "[mine] there are no class names, or one per class: 3; 2 were given");
  config = OwnData();
  config.class_names = {};
  CHECK_NOTHROW(DescribeDataset("mine", config));
  config.classes = 0;
  CHECK_THROWS_AS(DescribeDataset("mine", config), ConfigError);
}

// Where the package is not installed, the error has to name it.
TEST_CASE("the files of Fashion-MNIST are as described, or missing by name", "[data]") {
  const DatasetInfo info = *NamedDataset("fashion-mnist");
  std::vector<std::uint8_t> labels(10000);
  try {
    ReadIdxInto(info.files.test_labels, {info.test_count}, labels);
  } catch (const DataError& error) {
    CHECK(std::string(error.what()) ==
          "[" + info.files.test_labels +
              "] a file of the data set must exist; there is no such file; install the package "
              "dataset-fashion-mnist");
    return;
  }
  CheckLabels(info.files.test_labels, labels, info.classes);
  for (std::uint8_t label = 0; label < 10; ++label) {
    CHECK(std::count(labels.begin(), labels.end(), label) == 1000);
  }
  CHECK(ReadIdxHeader(info.files.train_images).shape == ImagesFileShape(info.sample_shape, 60000));
  CHECK(ReadIdxHeader(info.files.train_labels).shape == Shape{60000});
  std::vector<std::uint8_t> images(10000 * 28 * 28);
  ReadIdxInto(info.files.test_images, ImagesFileShape(info.sample_shape, 10000), images);
  CHECK(std::count(images.begin(), images.end(), std::uint8_t{0}) > 1'000'000);
}

}  // namespace
}  // namespace frugal::testing
