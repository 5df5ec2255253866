#include "sdk/data/class_filter.h"

#include <numeric>

#include "builders/ai_model_builder.h"
#include "builders/config/dataset.h"
#include "builders/config/run_config_reader.h"
#include "builders/plan/planner.h"
#include "sdk/core/error.h"
#include "sdk/memory/system_memory.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

using Classes = std::vector<std::int64_t>;

std::string Idx(const std::vector<int>& extents, const std::string& elements) {
  std::string file = {0, 0, 8, static_cast<char>(extents.size())};
  for (const int extent : extents) file += std::string(3, '\0') + static_cast<char>(extent);
  return file + elements;
}

// Images of 1 x 2 whose pixels are twice the sample's number.
std::string Images(int count) {
  std::string pixels;
  for (int i = 0; i < count; ++i) pixels += std::string(2, static_cast<char>(2 * i));
  return Idx({count, 1, 2}, pixels);
}

// Labels of training: 0 1 2 3 0 1 2 3 1; of testing: 3 2 1.
DataOptions Files(const TempDir& directory) {
  const std::string train = {0, 1, 2, 3, 0, 1, 2, 3, 1};
  DataOptions options{.dataset = "numbers",
                      .train_images = directory.Write("train_images", Images(9)),
                      .train_labels = directory.Write("train_labels", Idx({9}, train)),
                      .test_images = directory.Write("test_images", Images(3)),
                      .test_labels = directory.Write("test_labels", Idx({3}, {3, 2, 1}))};
  options.sample_shape = {{1, 2, 1}};
  options.train_count = 9;
  options.test_count = 3;
  options.classes = 4;
  return options;
}

DataOptions Using(const TempDir& directory, const Classes& classes) {
  DataOptions options = Files(directory);
  options.classes_used = classes;
  return options;
}

TEST_CASE("the samples of the classes that are used are there, with new labels", "[data]") {
  const TempDir directory;
  const DatasetDescription dataset = DatasetOf(Using(directory, {3, 1}));
  const DataLayout layout = LayoutOf(dataset);
  CHECK(layout.classes == 2);
  CHECK(layout.train_count == 5);
  CHECK(layout.test_count == 2);

  HeapAllocator memory;
  PartStorage storage = TakeStorage(memory, dataset, DatasetPart::kTrain);
  CHECK(std::get<ImageStorage>(storage).images.bytes() == 10);
  const auto source = OpenPart(dataset, DatasetPart::kTrain, std::move(storage));
  REQUIRE(source->count() == 5);
  Classes samples(5);
  std::iota(samples.begin(), samples.end(), 0);
  const Tensor inputs(memory, {5, 1, 2, 1}, DType::kF64, MemoryTag::kData);
  const Tensor targets(memory, {5}, DType::kI64, MemoryTag::kData);
  source->Fill(samples, inputs, targets);
  const auto labels = targets.values<std::int64_t>();
  CHECK(Classes(labels.begin(), labels.end()) == Classes{1, 0, 1, 0, 1});
  const Classes numbers = {1, 3, 5, 7, 8};  // in the file
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(inputs.values<double>()[i] == Approx(2.0 * static_cast<double>(numbers[i / 2]) / 255));
  }
}

TEST_CASE("all classes in another order only change the labels", "[data]") {
  const TempDir directory;
  CHECK(LayoutOf(DatasetOf(Using(directory, {3, 2, 1, 0}))).train_count == 9);
  CHECK(LayoutOf(DatasetOf(Using(directory, {2}))).train_count == 2);
  CHECK(LayoutOf(DatasetOf(Using(directory, {2}))).classes == 1);
}

TEST_CASE("a training on some classes goes as planned", "[data]") {
  const TempDir directory;
  AiModelBuilder builder;
  builder.Data(Using(directory, {1, 2, 3}));
  builder.Layers([](LayerList& l) { l.Flatten().Dense({.units = 3}); });
  builder.Training({.epochs = 2, .batch_size = 3});
  Model model = builder.Build();
  const TrainingResult result = model.Train();
  CHECK(result.steps == 4);  // 7 samples: 2 batches an epoch
  CHECK(model.schedule().test_samples == 3);
  CHECK(model.plan().peak_by_purpose == result.memory.peak_by_purpose);
}

TEST_CASE("classes that cannot be used are refused", "[data]") {
  const TempDir directory;
  const auto refusal = [&](const Classes& classes) {
    return MessageOf<ConfigError>([&] { DatasetOf(Using(directory, classes)); });
  };
  CHECK(refusal({0, 4}) ==
        "[data] classes_used names some of the classes 0 to 3, each once; 4 was given; e.g. "
        "classes_used = [0, 1]");
  CheckContains(refusal({-1}), "-1 was given");
  CheckContains(refusal({1, 0, 1}), "1 is there twice");
  CheckContains(refusal({}), "it names none");
  CHECK(refusal({0, 1, 2, 3}) == "no error");
}

TEST_CASE("refusals of classes name the place in the file", "[data]") {
  const auto refusal = [](const std::string& data) {
    const std::string network = "[[model.layers]]\ntype = \"dense\"\nunits = 10\n";
    return MessageOf<Error>(
        [&] { PlanTraining(ReadRunConfigText("[data]\n" + data + network, "run.toml")); });
  };
  CHECK(refusal("classes_used = [0, 10]\n").starts_with("run.toml:2:"));
  CHECK(refusal("classes_used = []\n").starts_with("run.toml:2:"));
  CHECK(refusal("classes_used = [0, 300]\n").starts_with("run.toml:2:"));
  CHECK(refusal("classes_used = [0.5]\n").starts_with("run.toml:2:"));
  CHECK(refusal("classes_used = [0]\ntrain_labels = \"none.idx\"\n").starts_with("run.toml:2:"));
  CHECK(refusal("classes_used = [0]\ndataset = \"fashon\"\n").starts_with("run.toml:3:"));
  CheckContains(refusal("text_file = \"a\"\nclasses_used = [0]\n"), "belongs to images");
}

TEST_CASE("label files that do not fit are refused", "[data]") {
  const TempDir directory;
  const DataOptions good = Using(directory, {1, 2});
  const auto refusal = [&] { return MessageOf<DataError>([&] { DatasetOf(good); }); };
  directory.Write("test_labels", Idx({3}, std::string(3, '\0')));
  CheckContains(refusal(), "some samples are of the classes in classes_used; none is");
  directory.Write("test_labels", Idx({3}, std::string(3, 9)));
  CheckContains(refusal(), "labels are below the number of classes");
  directory.Write("test_labels", Idx({4}, std::string(4, 1)));
  CheckContains(refusal(), "shape [3] is expected");
  directory.Write("test_labels", "no IDX");
  CheckContains(refusal(), "an IDX file begins with");
}

TEST_CASE("files that change between plan and training are refused", "[data]") {
  const TempDir directory;
  HeapAllocator memory;
  const DatasetDescription dataset = DatasetOf(Using(directory, {1, 2}));
  const auto refusal = [&] {
    return MessageOf<DataError>([&] {
      OpenPart(dataset, DatasetPart::kTest, TakeStorage(memory, dataset, DatasetPart::kTest));
    });
  };
  CHECK(refusal() == "no error");
  directory.Write("test_images", Images(3) + "x");
  CheckContains(refusal(), "more bytes follow");
  directory.Write("test_images", Images(3).substr(0, 20));
  CheckContains(refusal(), "the file ends after 4");
  directory.Write("test_labels", Idx({3}, {1, 1, 1}));
  CheckContains(refusal(), "now it has 3");
}

}  // namespace
}  // namespace frugal::testing
