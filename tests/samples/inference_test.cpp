// `frugal predict` and `frugal evaluate` need a weight file alone, and the file is what others
// read.
#include <nlohmann/json.hpp>

#include "sdk/io/png_writer.h"
#include "tests/samples/run_program.h"
#include "tests/samples/tiny_config.h"

namespace frugal::testing {
namespace {

// "w.safetensors" of the tiny training.
struct Trained {
  Trained() {
    WriteTinyData(directory);
    directory.Write("tiny.toml", kTinyConfig);
    const ProgramRun run = Frugal(
        directory, "train tiny.toml --weights w.safetensors --quiet --set training.epochs=1");
    REQUIRE(run.exit_code == 0);
  }
  TempDir directory;
};

// The peaks of "... 1,234 bytes planned, 1,234 measured (...)".
void CheckPeaksAgree(const std::string& output) {
  const std::size_t at = output.find("peak memory ");
  REQUIRE(at != std::string::npos);
  std::istringstream words(output.substr(at));
  std::string word, planned, measured;
  words >> word >> word >> planned >> word >> word >> measured;
  INFO(output);
  CHECK(planned == measured);
  CHECK(planned.size() > 2);
}

TEST_CASE("predict tells classes of images, in a table and in files") {
  const Trained trained;
  std::vector<std::uint8_t> pixels(16, 200);
  WritePng(trained.directory.File("one.png"),
           {.height = 4, .width = 4, .channels = 1, .bytes = pixels});
  const ProgramRun run = Frugal(
      trained.directory, "predict w.safetensors one.png test_images.idx --out p.csv --top 2");
  CHECK(run.errors == "");
  CHECK(run.exit_code == 0);
  CheckContains(run.output, "one.png");
  CheckContains(run.output, "test_images.idx 3");
  CheckContains(run.output, "wrote p.csv");
  CheckContains(run.output, "5 samples in ");
  CheckPeaksAgree(run.output);
  const std::string csv = ReadAll(trained.directory.File("p.csv"));
  CHECK(csv.starts_with("input,class,name,probability,p0,p1,p2\none.png,"));
  CHECK(std::ranges::count(csv, '\n') == 6);
  const ProgramRun json = Frugal(
      trained.directory, "predict w.safetensors one.png --out p.json --set training.threads=1");
  CHECK(json.exit_code == 0);
  CHECK(nlohmann::json::parse(ReadAll(trained.directory.File("p.json"))).size() == 1);
}

TEST_CASE("predict names the file that does not fit, and what the network takes") {
  const Trained trained;
  trained.directory.Write("no.txt", "text");
  const auto errors = [&](const std::string& arguments) {
    const ProgramRun run = Frugal(trained.directory, arguments);
    CHECK(run.exit_code == 1);
    return run.errors;
  };
  CheckContains(errors("predict w.safetensors no.txt"), "[no.txt] a PNG image, an IDX file");
  CheckContains(errors("predict w.safetensors none.png"), "[none.png] a file to read");
  CheckContains(errors("predict w.safetensors test_images.idx --out p.xls"),
                "'.xls' is another form");
  CheckContains(errors("predict no.txt test_images.idx"), "no.txt");
  CheckContains(errors("predict w.safetensors test_images.idx --set training.precison=1"),
                "did you mean 'precision'?");
}

TEST_CASE("evaluate runs over the test part of the file's data, and measures what is asked for") {
  const Trained trained;
  std::filesystem::remove(trained.directory.File("train_images.idx"));
  std::filesystem::remove(trained.directory.File("tiny.toml"));
  const ProgramRun run =
      Frugal(trained.directory, "evaluate w.safetensors --metric f1 --metric confusion_matrix");
  CHECK(run.errors == "");
  CHECK(run.exit_code == 0);
  for (const char* part : {"samples", "loss", "accuracy", "f1", "a row for each label"}) {
    CheckContains(run.output, part);
  }
  CheckPeaksAgree(run.output);
  const ProgramRun json = Frugal(trained.directory, "evaluate w.safetensors --json --metric top_2");
  const auto result = nlohmann::json::parse(json.output);
  CHECK(result["samples"] == 4);
  CHECK(result["metrics"].contains("top_2"));
  CHECK(result["planned_peak_bytes"] == result["measured_peak_bytes"]);
  const ProgramRun other =
      Frugal(trained.directory, "evaluate w.safetensors --json --set data.test_limit=3 --batch 2");
  CHECK(nlohmann::json::parse(other.output)["samples"] == 3);
  const ProgramRun gone =
      Frugal(trained.directory, "evaluate w.safetensors --set data.test_images=gone.idx");
  CHECK(gone.exit_code == 1);
  CheckContains(gone.errors, "gone.idx");
}

TEST_CASE("inspect shows the description, line by line") {
  const Trained trained;
  const ProgramRun run = Frugal(trained.directory, "inspect w.safetensors");
  CheckContains(run.output, "  format = pt\n");
  CheckContains(run.output, "  frugal.config = \n    [model]\n");
  CheckContains(run.output, "{ type = \"dense\", units = 3");
}

// Another program's view: the header as the form defines it, metadata a map of texts.
TEST_CASE("the header of weights is what other readers of safetensors ask for") {
  const Trained trained;
  const std::string file = ReadAll(trained.directory.File("w.safetensors"));
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  REQUIRE(length < file.size());
  CHECK((8 + length) % 8 == 0);
  const auto header = nlohmann::json::parse(file.substr(8, length));
  const auto& metadata = header.at("__metadata__");
  CHECK(metadata.at("format") == "pt");
  for (const auto& [key, value] : metadata.items()) {
    INFO(key);
    CHECK(value.is_string());
  }
  CHECK(header.at("1.weight").at("shape") == nlohmann::json({3, 16}));
}

}  // namespace
}  // namespace frugal::testing
