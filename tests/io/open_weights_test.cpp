#include "sdk/io/weights/open_weights.h"

#include <sys/stat.h>

#include "sdk/core/error.h"
#include "sdk/io/weights/detect_format.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

using Format = WeightsFileFormat;

std::string Refusal(const std::string& path, Format format = Format::kAuto) {
  return MessageOf<WeightFileError>([&] { OpenWeights(path, format); });
}

TEST_CASE("the form is known by the content, whatever the name says", "[io]") {
  const TempDir directory;
  for (const Format format : {Format::kJson, Format::kBinary, Format::kSafetensors}) {
    for (const char* name : {"w.json", "w.safetensors", "w"}) {
      WriteWeights(directory.File(name), format, {F32("a", {2}, {1, 2})});
      CHECK(DetectFormat(ReadAll(directory.File(name)).substr(0, 64)) == format);
      CHECK(OpenWeights(directory.File(name))->Entries().size() == 1);
    }
  }
}

TEST_CASE("contents that look alike are told apart", "[io]") {
  CHECK(DetectFormat("\xEF\xBB\xBF {\"a\"") == Format::kJson);
  CHECK(DetectFormat("{\"\xC3\xA9\xC3\xA9\":{") == Format::kJson);  // byte 8 is a brace here too
  std::string length_is_a_brace = Safetensors(std::string(1, '{') + std::string(122, ' '), 0);
  CHECK(length_is_a_brace[0] == '{');
  CHECK(DetectFormat(length_is_a_brace) == Format::kSafetensors);
  CHECK(DetectFormat("hello, world") == Format::kAuto);
}

TEST_CASE("files that cannot be weights are refused", "[io]") {
  const TempDir directory;
  const std::string missing = directory.File("missing");
  CHECK(Refusal(missing) ==
        "[" + missing + "] a weight file must exist; there is no such file; check the path");
  const std::string folder = directory.File("");
  CHECK(Refusal(folder) == "[" + folder +
                               "] a weight file must be a regular file that can be read; this is "
                               "a directory; name a file in it");
  const std::string empty = directory.Write("empty", "");
  CHECK(Refusal(empty) == "[" + empty +
                              "] a weight file holds at least a table of contents; this file is "
                              "empty; write it again");
  const std::string pipe = directory.File("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CheckContains(Refusal(pipe), "this is a device, pipe or socket");
  const std::string text = directory.Write("text", "hello, world");
  CHECK(Refusal(text) == "[" + text +
                             "] a weight file is safetensors, JSON or frugal's binary form; this "
                             "file is none of them; convert it to safetensors");
  const std::string archive = directory.Write("model.pt", "PK\x03\x04 and so on");
  CheckContains(Refusal(archive), "a zip archive, perhaps a PyTorch checkpoint");
  CheckContains(Refusal(archive, Format::kSafetensors), "a zip archive");
  const std::string pointer = directory.Write("lfs", "version https://git-lfs.github.com/spec/v1");
  CheckContains(Refusal(pointer), "a Git LFS pointer");
}

TEST_CASE("a weight file that may not be read is refused", "[io][needs-user]") {
  FRUGAL_SKIP_UNLESS(::geteuid() != 0, "root may read everything");
  const TempDir directory;
  const std::string text = directory.Write("text", "hello, world");
  std::filesystem::permissions(text, std::filesystem::perms::none);
  CheckContains(Refusal(text), "Permission denied");
}

TEST_CASE("another form than the one asked for is refused", "[io]") {
  const TempDir directory;
  const std::string path = directory.File("w.safetensors");
  WriteWeights(path, Format::kJson, {F32("a", {1}, {1})});
  CHECK(Refusal(path, Format::kSafetensors) ==
        "[" + path +
            "] safetensors was asked for; the file is JSON, not safetensors; ask for JSON or auto");
  CHECK(Refusal(path, Format::kJson) == "no error");
  WriteWeights(path, Format::kAuto, {F32("a", {1}, {1})});
  CheckContains(Refusal(path, Format::kBinary), "the file is safetensors, not binary");
  CheckContains(Refusal(directory.Write("text", "hello, world"), Format::kBinary),
                "begins with the letters FRUGALWT");
}

}  // namespace
}  // namespace frugal::testing
