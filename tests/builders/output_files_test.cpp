#include "builders/output_files.h"

#include <unistd.h>

#include <functional>

#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

std::string Refusal(const OutputOptions& output, const std::vector<std::string>& keep = {}) {
  RunConfig config;
  config.output = output;
  return MessageOf<ConfigError>([&] { PrepareOutputs(config, keep); });
}

TEST_CASE("outputs: nothing asked for, nothing wrong") { CHECK(Refusal({}) == "no error"); }

TEST_CASE("outputs: missing directories are made, and nothing else") {
  const TempDir directory;
  CHECK(Refusal({.weights = directory.File("a/b/w.safetensors")}) == "no error");
  CHECK(std::filesystem::is_directory(directory.File("a/b")));
  CHECK_FALSE(std::filesystem::exists(directory.File("a/b/w.safetensors")));
}

TEST_CASE("outputs: no directory is made where another output is wrong") {
  const TempDir directory;
  CheckContains(
      Refusal({.weights = directory.File("a/w.safetensors"), .report = directory.File("")}),
      "is a directory");
  CHECK_FALSE(std::filesystem::exists(directory.File("a")));
}

TEST_CASE("outputs: an existing file may be replaced, a kept one not, whatever its spelling") {
  const TempDir directory;
  const std::string file = directory.Write("run.toml", "");
  CHECK(Refusal({.report = file}) == "no error");
  CheckContains(Refusal({.report = directory.File("./run.toml")}, {file}), "output.report");
  std::filesystem::create_symlink(file, directory.File("link"));
  CheckContains(Refusal({.report = directory.File("link")}, {file}), "output.report");
}

TEST_CASE("outputs: what a training reads is not replaced; weights may go on in their file") {
  const TempDir directory;
  const std::string file = directory.Write("input", "");
  const std::string other = directory.File("./input");
  using Change = std::function<void(RunConfig&)>;
  const auto refusal = [&](const Change& change) {
    RunConfig config;
    change(config);
    return MessageOf<ConfigError>([&] { PrepareOutputs(config); });
  };
  const Change clashes[] = {
      [&](RunConfig& c) { c.output.summary = other, c.data.text_file = file; },
      [&](RunConfig& c) { c.output.report = other, c.data.train_images = file; },
      [&](RunConfig& c) { c.output.weights = other, c.data.test_labels = file; },
      [&](RunConfig& c) { c.output.report = other, c.memory.weights_file_path = file; }};
  for (const Change& clash : clashes) {
    CheckContains(refusal(clash), "is what this training is read from");
  }
  CHECK(refusal([&](RunConfig& c) {
          c.output.weights = other, c.memory.weights_file_path = file;
        }) == "no error");
}

TEST_CASE("outputs: a link to itself") {
  const TempDir directory;
  std::filesystem::create_symlink("loop", directory.File("loop"));
  CheckContains(Refusal({.weights = directory.File("loop")}), "leads back to itself");
}

TEST_CASE("outputs: everything wrong is said at once") {
  const TempDir directory;
  const std::string message =
      Refusal({.weights = "", .report = directory.File(""), .summary = "/dev/null"});
  CheckContains(message, "[output.weights]");
  CheckContains(message, "the path is empty");
  CheckContains(message, "[output.report]");
  CheckContains(message, "[output.summary]");
  CheckContains(message, "'/dev/null' is a device");
}

TEST_CASE("outputs: two in one file") {
  const TempDir directory;
  CheckContains(Refusal({.weights = directory.File("x"), .summary = directory.File("./x")}),
                "is also that of output.summary");
}

TEST_CASE("outputs: a directory that nothing may be written into", "[needs-user]") {
  FRUGAL_SKIP_UNLESS(::geteuid() != 0, "root may write everything");
  const TempDir directory;
  std::filesystem::permissions(directory.File(""), std::filesystem::perms::owner_read);
  CheckContains(Refusal({.report = directory.File("r.html")}), "[output.report]");
  std::filesystem::permissions(directory.File(""), std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace frugal::testing
