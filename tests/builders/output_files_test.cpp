#include "builders/output_files.h"

#include <sys/resource.h>
#include <unistd.h>

#include <functional>

#include "builders/run_training.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/skip.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

std::string OutputRefusal(const OutputOptions& output, const std::vector<std::string>& keep = {}) {
  RunConfig config;
  config.output = output;
  return MessageOf<ConfigError>([&] { PrepareOutputs(config, keep); });
}

TEST_CASE("outputs: nothing asked for, nothing wrong") { CHECK(OutputRefusal({}) == "no error"); }

TEST_CASE("outputs: missing directories are made, and nothing else") {
  const TempDir directory;
  CHECK(OutputRefusal({.weights = directory.File("a/b/w.safetensors")}) == "no error");
  CHECK(std::filesystem::is_directory(directory.File("a/b")));
  CHECK_FALSE(std::filesystem::exists(directory.File("a/b/w.safetensors")));
}

TEST_CASE("outputs: no directory is made where another output is wrong") {
  const TempDir directory;
  CheckContains(
      OutputRefusal({.weights = directory.File("a/w.safetensors"), .report = directory.File("")}),
      "is a directory");
  CHECK_FALSE(std::filesystem::exists(directory.File("a")));
}

TEST_CASE("outputs: an existing file may be replaced, a kept one not, whatever its spelling") {
  const TempDir directory;
  const std::string file = directory.Write("run.toml", "");
  CHECK(OutputRefusal({.report = file}) == "no error");
  CheckContains(OutputRefusal({.report = directory.File("./run.toml")}, {file}), "output.report");
  std::filesystem::create_symlink(file, directory.File("link"));
  CheckContains(OutputRefusal({.report = directory.File("link")}, {file}), "output.report");
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

std::string RefusalOfSpace(const OutputOptions& output, const OutputBytes& bytes) {
  RunConfig config;
  config.output = output;
  return MessageOf<ConfigError>([&] { CheckOutputSpace(config, bytes); });
}

TEST_CASE("outputs: a file system without room for them is refused, with both numbers") {
  const TempDir directory;
  const std::string path = directory.File("w.safetensors");
  const std::int64_t huge = std::int64_t{1} << 62;
  const std::string message = RefusalOfSpace({.weights = path}, {.weights = huge});
  CheckContains(message, "[output.weights]");
  CheckContains(message, "'" + path + "' takes 4,611,686,018,427,387,904 bytes, and ");
  CheckContains(message, " are free there; free space, or name a file elsewhere");
  CHECK(RefusalOfSpace({.weights = path}, {.weights = 1000}) == "no error");
  CHECK(RefusalOfSpace({.summary = path}, {.weights = huge}) == "no error");
  directory.Write("w.safetensors", "old");
  CheckContains(RefusalOfSpace({.weights = path}, {.weights = huge}),
                "bytes beside the file that it replaces, and ");
  CHECK(ReadAll(path) == "old");
}

TEST_CASE("outputs: what they will take is known before a training, weights to the byte") {
  const TempDir directory;
  const bool averages = GENERATE(false, true);
  AiModelBuilder builder =
      BuilderFor({.network = "resnet",
                  .memory = {},
                  .optimizer = {.lr = 0.01, .ema_decay = averages ? 0.9 : 0.0}});
  builder.Output({.weights = directory.File("w"),
                  .report = directory.File("r"),
                  .summary = directory.File("s")});
  PlannedTraining planned = builder.Plan();
  const OutputBytes bytes = OutputBytesOf(planned);
  RunTraining(std::move(planned), {.quiet = true}, SyntheticSources(LayoutFor("resnet")));
  const auto written = [&](const char* name) {
    return static_cast<std::int64_t>(std::filesystem::file_size(directory.File(name)));
  };
  CHECK(written("w") == bytes.weights);
  CHECK(written("r") < bytes.report);
  CHECK(written("s") < bytes.summary);
}

TEST_CASE("outputs: room is taken once for each of them") {
  const TempDir directory;
  OutputSpace space;
  const std::int64_t free = space.Take(directory.File("a"), std::int64_t{1} << 62).value();
  const std::int64_t most = free - free / 4;  // others may write here at the same time
  CHECK_FALSE(space.Take(directory.File("a"), most));
  CHECK(space.Take(directory.File("b"), most).value() <= free - most);
}

TEST_CASE("outputs: a limit to the size of files is one to outputs") {
  const TempDir directory;
  rlimit before = {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit limited = before;
  limited.rlim_cur = 5000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
  const std::string message = RefusalOfSpace({.weights = directory.File("w")}, {.weights = 5001});
  const std::string fits = RefusalOfSpace({.weights = directory.File("w")}, {.weights = 5000});
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  CheckContains(message, "takes 5,001 bytes, and a file of this process may have 5,000");
  CHECK(fits == "no error");
}

TEST_CASE("outputs: a path with a NUL, and a form of weights that is not ours") {
  const TempDir directory;
  CheckContains(OutputRefusal({.weights = directory.File(std::string_view("w\0.x", 4))}),
                "NUL character");
  CheckContains(OutputRefusal({.weights = directory.File("w.pt")}), "'.pt' is another form");
  CHECK(OutputRefusal({.report = directory.File("r.pt")}) == "no error");
  CHECK(directory.Count() == 0);
}

TEST_CASE("outputs: a dangling link is written through, and two that meet are refused") {
  const TempDir directory;
  std::filesystem::create_symlink("new/w", directory.File("link"));
  CHECK(OutputRefusal({.weights = directory.File("link")}) == "no error");
  CHECK(std::filesystem::is_directory(directory.File("new")));
  CHECK(std::filesystem::is_symlink(directory.File("link")));
  CheckContains(
      OutputRefusal({.weights = directory.File("link"), .report = directory.File("new/w")}),
      "is also that of output.report");
}

TEST_CASE("outputs: a link to itself") {
  const TempDir directory;
  std::filesystem::create_symlink("loop", directory.File("loop"));
  CheckContains(OutputRefusal({.weights = directory.File("loop")}), "leads back to itself");
}

TEST_CASE("outputs: everything wrong is said at once") {
  const TempDir directory;
  const std::string message =
      OutputRefusal({.weights = "", .report = directory.File(""), .summary = "/dev/null"});
  CheckContains(message, "[output.weights]");
  CheckContains(message, "the path is empty");
  CheckContains(message, "[output.report]");
  CheckContains(message, "[output.summary]");
  CheckContains(message, "'/dev/null' is a device");
}

TEST_CASE("outputs: two in one file") {
  const TempDir directory;
  CheckContains(OutputRefusal({.weights = directory.File("x"), .summary = directory.File("./x")}),
                "is also that of output.summary");
}

TEST_CASE("outputs: a directory that nothing may be written into", "[needs-user]") {
  FRUGAL_SKIP_UNLESS(::geteuid() != 0, "root may write everything");
  const TempDir directory;
  std::filesystem::permissions(directory.File(""), std::filesystem::perms::owner_read);
  CheckContains(OutputRefusal({.report = directory.File("r.html")}), "[output.report]");
  std::filesystem::permissions(directory.File(""), std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace frugal::testing
