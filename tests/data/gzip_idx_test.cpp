#include "sdk/data/gzip_idx.h"

#include <zlib.h>

#include <filesystem>
#include <string_view>

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string Idx(const std::vector<std::uint32_t>& extents, std::size_t elements, char type = 8) {
  std::string content = {0, 0, type, static_cast<char>(extents.size())};
  for (const std::uint32_t extent : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      content += static_cast<char>(extent >> shift & 0xff);
    }
  }
  for (std::size_t at = 0; at < elements; ++at) content += static_cast<char>(at * 7);
  return content;
}

std::string Gzip(const TempDir& directory, const std::string& content) {
  const std::string path = directory.File("packed");
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  return ReadAll(path);
}

std::string Refusal(const std::string& path, const Shape& expected) {
  Bytes data(static_cast<std::size_t>(expected.ElementCount()));
  const std::string text =
      MessageOf<DataError>([&] { ReadIdxInto(path, expected, std::span(data)); });
  const std::string where = "[" + path + "] ";
  return text.starts_with(where) ? text.substr(where.size()) : text;
}

TEST_CASE("IDX files are read plain and gzipped", "[data]") {
  const TempDir directory;
  const std::string content = Idx({3, 4, 2}, 24);
  for (const std::string& stored : {content, Gzip(directory, content)}) {
    const std::string path = directory.Write("file", stored);
    CHECK(ReadIdxHeader(path).shape == Shape{3, 4, 2});
    Bytes data(24);
    ReadIdxInto(path, {3, 4, 2}, data);
    CHECK(data[0] == 0);
    CHECK(data[23] == 161);
  }
  CHECK(Refusal(directory.Write("none", Idx({0, 4}, 0)), {0, 4}) == "no error");
}

TEST_CASE("data sets larger than the buffers are read whole", "[data]") {
  const TempDir directory;
  const std::string path =
      directory.Write("file", Gzip(directory, Idx({1000, 28, 28}, 1000 * 28 * 28)));
  Bytes data(1000 * 28 * 28);
  ReadIdxInto(path, {1000, 28, 28}, data);
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < data.size(); ++at) wrong += data[at] != (at * 7 & 0xff);
  CHECK(wrong == 0);
}

TEST_CASE("data files that are not there or not files are refused", "[data]") {
  const TempDir directory;
  CHECK(Refusal(directory.File("missing"), {1}) ==
        "a file of the data set must exist; there is no such file; check the path");
  CHECK(Refusal("/usr/share/datasets/fashion-mnist/missing.gz", {1}) ==
        "a file of the data set must exist; there is no such file; install the package "
        "dataset-fashion-mnist");
  CHECK(Refusal(directory.File(""), {1}) ==
        "a file of the data set must be a regular file; this is a directory; name a file that can "
        "be read");
  CHECK(Refusal(directory.Write("empty", ""), {1}) ==
        "a file of the data set has content; this file is empty; fetch it again");
}

TEST_CASE("files that are not IDX of bytes are refused", "[data]") {
  const TempDir directory;
  const auto refusal = [&](const std::string& content) {
    return Refusal(directory.Write("file", content), {2});
  };
  const std::string again = "; name the right file, or fetch it again";
  const std::string magic =
      "an IDX file begins with the bytes 0, 0, type and rank; this one does not" + again;
  CHECK(refusal("hello, world") == magic);
  CHECK(refusal(std::string(3, '\0')) == magic);
  CHECK(refusal(Idx({}, 1)) == magic);
  CHECK(refusal(Idx({2}, 8, 0x0D)) ==
        "IDX files of unsigned bytes are supported; this one holds 32-bit floats; convert it");
  CHECK(refusal(Idx({1, 1, 1, 1, 1, 1, 1, 1, 2}, 2)) ==
        "an IDX file has at most 8 dimensions; this one has 9" + again);
  CHECK(refusal(Idx({2}, 2).substr(0, 6)) ==
        "an IDX file gives its extents; it ends before" + again);
  CHECK(refusal(Idx({3}, 3)) ==
        "shape [2] is expected; the file has [3]; correct the description of the data set, or name "
        "the right file");
  CHECK(refusal(Idx({0xffffffff, 0xffffffff, 0xffffffff}, 2)) ==
        "the elements of shape [4294967295, 4294967295, 4294967295] lie in the file; it has only "
        "18 B" +
            again);
}

TEST_CASE("data files that end early or late are refused", "[data]") {
  const TempDir directory;
  const Shape shape = {40, 5};
  const std::string whole = Idx({40, 5}, 200);
  for (const bool packed : {false, true}) {
    const auto refusal = [&](const std::string& content) {
      return Refusal(directory.Write("file", packed ? Gzip(directory, content) : content), shape);
    };
    CHECK(refusal(whole) == "no error");
    CHECK(refusal(whole.substr(0, 210)) ==
          "shape [40, 5] has 200 bytes; the file ends after 198; fetch it again");
    CHECK(refusal(whole + "x") ==
          "the file ends with its last element; more bytes follow; fetch it again");
  }
}

TEST_CASE("every shortened or altered gzip file is refused", "[data]") {
  const TempDir directory;
  const Shape shape = {40, 5};
  const std::string packed = Gzip(directory, Idx({40, 5}, 200));
  for (std::size_t length = 1; length < packed.size(); ++length) {
    INFO(length);
    CHECK(Refusal(directory.Write("file", packed.substr(0, length)), shape) != "no error");
  }
  CHECK(Refusal(directory.Write("file", packed.substr(0, packed.size() - 20)), shape) ==
        "the file unpacks to its end; the compressed data are cut short; fetch it again");
  const std::string whole = Idx({40, 5}, 200);
  int wrong = 0;  // neither refused nor read as it was: a few bits of the form carry nothing
  for (std::size_t at = 10; at < packed.size(); ++at) {  // behind the header of gzip
    std::string altered = packed;
    altered[at] = static_cast<char>(altered[at] ^ 0x10);
    const std::string path = directory.Write("file", altered);
    if (Refusal(path, shape) != "no error") continue;
    Bytes data(200);
    ReadIdxInto(path, shape, data);
    wrong += data != Bytes(whole.begin() + 12, whole.end()) ? 1 : 0;
  }
  CHECK(wrong == 0);
  std::string checksum = packed;
  checksum[packed.size() - 8] = static_cast<char>(checksum[packed.size() - 8] ^ 1);
  CHECK(Refusal(directory.Write("file", checksum), shape) ==
        "the file unpacks to its end; the compressed data are damaged; fetch it again");
}

// More than one buffer of the reader, so that members and their ends lie anywhere in it.
TEST_CASE("members of a gzip file are read as one, and what is none behind them is passed over",
          "[data]") {
  const TempDir directory;
  std::string whole = Idx({700'000}, 0);
  for (std::size_t i = 0; i < 700'000; ++i) whole += static_cast<char>(i * i % 251);
  const Shape shape = {700'000};
  for (const std::size_t cut : {std::size_t{1}, std::size_t{8}, std::size_t{300'000}}) {
    INFO(cut);
    const std::string members =
        Gzip(directory, whole.substr(0, cut)) + Gzip(directory, whole.substr(cut));
    for (const std::string& behind : {std::string(), std::string(512, '\0'), std::string("x")}) {
      const std::string path = directory.Write("file", members + behind);
      Bytes data(700'000);
      ReadIdxInto(path, shape, data);
      CHECK(data == Bytes(whole.begin() + 8, whole.end()));
    }
    CHECK(Refusal(directory.Write("file", members.substr(0, members.size() - 9)), shape) ==
          "the file unpacks to its end; the compressed data are cut short; fetch it again");
  }
}

}  // namespace
}  // namespace frugal::testing
