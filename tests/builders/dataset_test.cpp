#include "builders/config/dataset.h"

#include "builders/ai_model_builder.h"
#include "builders/config/run_config_reader.h"
#include "builders/config/run_rules.h"
#include "builders/plan/planner.h"
#include "sdk/core/error.h"
#include "sdk/memory/system_memory.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

const std::string kNetwork = "\n[[model.layers]]\ntype = \"dense\"\nunits = 256\n";

// Returns what [data] with these lines is refused with, or "no error".
std::string DataRefusal(const std::string& data) {
  return MessageOf<ConfigError>(
      [&] { ReadRunConfigText("[data]\n" + data + kNetwork, "run.toml"); });
}

DataLayout DatasetLayout(const DataOptions& options) { return LayoutOf(DatasetOf(options)); }

TEST_CASE("each field about a text changes the data") {
  const TempDir directory;
  const std::string one = directory.Write("one", std::string(1001, 'a'));
  const std::string other = directory.Write("other", std::string(2001, 'a'));
  const DataLayout plain =
      DatasetLayout({.text_file = one, .sequence_length = 10, .test_fraction = 0.1});
  CHECK(plain.sample_shape == Shape{10});
  CHECK(plain.train_count == 90);
  CHECK(plain.test_count == 10);
  CHECK(DatasetLayout({.text_file = other, .sequence_length = 10}).train_count == 180);
  CHECK(DatasetLayout({.text_file = one, .sequence_length = 20}).train_count == 45);
  CHECK(DatasetLayout({.text_file = one, .sequence_length = 10, .test_fraction = 0.4}).test_count ==
        40);
}

TEST_CASE("a part's memory is what its bytes take") {
  const TempDir directory;
  HeapAllocator memory;
  const DatasetDescription text = DatasetOf(
      {.text_file = directory.Write("text", std::string(101, 'a')), .sequence_length = 10});
  for (const DatasetPart part : {DatasetPart::kTrain, DatasetPart::kTest}) {
    PartStorage storage = TakeStorage(memory, text, part);
    CHECK(std::get<Tensor>(storage).size() == (part == DatasetPart::kTrain ? 91 : 11));
    CHECK(OpenPart(text, part, std::move(storage))->count() ==
          (part == DatasetPart::kTrain ? 9 : 1));
  }
  const DatasetDescription untested =
      DatasetOf({.text_file = directory.File("text"), .sequence_length = 10, .test_fraction = 0});
  CHECK_THROWS_AS(TakeStorage(memory, untested, DatasetPart::kTest), UsageError);
}

TEST_CASE("fields about images are refused beside a text") {
  const std::string text = "text_file = \"a.txt\"\n";
  for (const char* field :
       {"train_images = \"a\"", "train_labels = \"a\"", "test_images = \"a\"",
        "test_labels = \"a\"", "sample_shape = [4, 4, 1]", "train_count = 9", "test_count = 9",
        "classes = 3", "mean = 0.5", "mean = 0.0", "std = 2.0", "std = 1.0"}) {
    CAPTURE(field);
    const std::string key = std::string(field).substr(0, std::string(field).find(' '));
    CHECK(DataRefusal(text + field + "\n") ==
          "run.toml:3:1: [data] " + key +
              " belongs to images; text_file = \"a.txt\"; leave one of the two out");
  }
  CheckContains(DataRefusal(text + "dataset = \"fashion-mnist\"\n"), "is built-in images");
  CHECK(DataRefusal(text + "dataset = \"letters\"\n") == "no error");
  CHECK(DataRefusal(text + "train_limit = 9\ntest_limit = 9\nshuffle = false\n") == "no error");
}

TEST_CASE("code may replace images by a text") {
  const TempDir directory;
  AiModelBuilder builder;
  builder.Layers([](LayerList& layers) { layers.Dense({.units = 256}); });
  builder.Data({.dataset = "mine", .classes = 3, .mean = 0.5});
  builder.Data({.text_file = directory.Write("text", std::string(5000, 'a'))});
  Diagnostics diagnostics;
  CheckRun(builder.config(), false, diagnostics);
  CHECK(diagnostics.empty());
  builder.Data({.text_file = directory.File("text"), .mean = 0.5});
  CheckContains(MessageOf<ConfigError>([&] { builder.Plan(); }), "mean belongs to images");
}

TEST_CASE("a text that cannot be read is told with its place in the file") {
  const TempDir directory;
  const std::string toml = "[data]\ntext_file = \"" + directory.File("missing") + "\"\n";
  const RunConfig config = ReadRunConfigText(toml + kNetwork, "run.toml");
  CheckContains(MessageOf<DataError>([&] { PlanTraining(config); }),
                "run.toml:2:1: [" + directory.File("missing") + "] a file of the data set must");
}

TEST_CASE("fields about a text are refused without one") {
  for (const char* field : {"sequence_length = 64", "sequence_length = 128", "test_fraction = 0.2",
                            "test_fraction = 0.1"}) {
    CAPTURE(field);
    const std::string key = std::string(field).substr(0, std::string(field).find(' '));
    CheckContains(DataRefusal(std::string(field) + "\n"),
                  key + " belongs to a text; there is no text_file; leave it out, or name a text");
  }
  CheckContains(DataRefusal("text_file = \"a\"\nsequence_length = 0\n"), "sequence_length");
  CheckContains(DataRefusal("text_file = \"a\"\ntest_fraction = 0.95\n"), "test_fraction");
}

TEST_CASE("a text takes cross entropy") {
  CheckContains(DataRefusal("text_file = \"a\"\n[loss]\nkind = \"mse\"\n"), "cross_entropy");
}

}  // namespace
}  // namespace frugal::testing
