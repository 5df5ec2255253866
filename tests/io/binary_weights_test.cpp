#include "sdk/io/weights/binary_weights.h"

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

// Builds files by hand, as the header documents them.
struct Bytes {
  std::string text;

  template <class T>
  Bytes& Put(T value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Bytes& Name(const std::string& name) {
    Put(static_cast<std::uint32_t>(name.size()));
    text += name;
    return *this;
  }
};

Bytes Beginning(std::uint64_t tensors) {
  return Bytes{"FRUGALWT"}.Put(std::uint32_t{1}).Put(std::uint32_t{0}).Put(tensors);
}

// One F32 tensor of two elements, its data not included.
Bytes OneTensor(std::uint8_t dtype = 9, std::int64_t extent = 2, std::uint64_t bytes = 8) {
  Bytes file = Beginning(1).Name("w");
  return file.Put(dtype).Put(std::uint8_t{1}).Put(extent).Put(bytes);
}

TEST_CASE("the binary form is the documented one", "[io]") {
  const TempDir directory;
  Bytes expected = Bytes{"FRUGALWT"}.Put(std::uint32_t{1}).Put(std::uint32_t{1});
  expected.Name("k").Name("v").Put(std::uint64_t{2});
  expected.Name("b").Put(std::uint8_t{9}).Put(std::uint8_t{2});
  expected.Put(std::int64_t{1}).Put(std::int64_t{2}).Put(std::uint64_t{8});
  expected.Name("a").Put(std::uint8_t{11}).Put(std::uint8_t{0}).Put(std::uint64_t{8});
  expected.Put(1.5f).Put(-2.0f).Put(std::int64_t{7});
  WriteWeights(directory.File("w"), WeightsFileFormat::kBinary,
               {F32("b", {1, 2}, {1.5f, -2}), Named<std::int64_t>("a", {}, StoredDType::kI64, {7})},
               {{"k", "v"}});
  CHECK(ReadAll(directory.File("w")) == expected.text);
}

TEST_CASE("damaged binary weights are refused, saying what is wrong", "[io]") {
  const TempDir directory;
  const auto message = [&](const std::string& content) {
    const std::string path = directory.Write("w", content);
    const std::string text = MessageOf<WeightFileError>([&] { OpenBinaryWeights(path); });
    const std::string where = "[" + path + "] ";
    return text.starts_with(where) ? text.substr(where.size()) : text;
  };
  const std::string damaged = "; the file is damaged; fetch or write it again";
  const std::string data(8, '\0');
  CHECK(message(OneTensor().text + data) == "no error");
  CHECK(message("FRUGALW") ==
        "a binary weight file begins with the letters FRUGALWT; this one does not; it is damaged "
        "or of another kind");
  CHECK(message(Bytes{"FRUGALWT"}.Put(std::uint32_t{2}).text) ==
        "the binary form has version 1; this file has version 2; read it with the release of "
        "frugal that wrote it");
  const std::string runs =
      "the list of tensors lies inside the file; it runs past the end" + damaged;
  CHECK(message(Beginning(~std::uint64_t{0}).text) == runs);
  CHECK(message(Beginning(1).Put(~std::uint32_t{0}).text) == runs);
  CHECK(message(OneTensor(13).text + data) ==
        "tensor 'w' has a dtype code from 0 to 12; it is 13" + damaged);
  CHECK(message(OneTensor(9, -1).text + data) ==
        "tensor 'w' has a shape that fits memory; [-1] is given" + damaged);
  CHECK(message(OneTensor(9, 2, 9).text + data) ==
        "tensor 'w' (F32 [2]) takes 8 bytes; 9 are given" + damaged);
  CHECK(message(OneTensor().text + data.substr(1)) ==
        "tensor 'w' (F32 [2]) takes 8 bytes; only 7 are left in the file; it is cut short; fetch "
        "or write it again");
  CHECK(message(OneTensor().text + data + "x") ==
        "the file ends with its last tensor; 1 bytes follow it" + damaged);
  CHECK(message(Beginning(1).Name("w").Put(std::uint8_t{9}).Put(std::uint8_t{9}).text + data) ==
        "tensor 'w' has at most 8 dimensions; 9 are given" + damaged);
  Bytes twice = Beginning(2);
  for (int round = 0; round < 2; ++round) {
    twice.Name("w").Put(std::uint8_t{1}).Put(std::uint8_t{0}).Put(std::uint64_t{1});
  }
  CHECK(message(twice.text + "ab") == "every tensor is listed once; 'w' is there twice" + damaged);
}

TEST_CASE("names and metadata of binary weights are UTF-8, and keys are there once", "[io]") {
  const TempDir directory;
  const auto message = [&](const Bytes& content) {
    const std::string path = directory.Write("w", content.text);
    return MessageOf<WeightFileError>([&] { OpenBinaryWeights(path); });
  };
  const auto head = [](std::uint32_t pairs) {
    return Bytes{"FRUGALWT"}.Put(std::uint32_t{1}).Put(pairs);
  };
  const std::string not_utf8 = "] names and metadata are UTF-8; one of them is not; the file is";
  Bytes name = Beginning(1).Name("\xC3\x28");
  name.Put(std::uint8_t{1}).Put(std::uint8_t{0}).Put(std::uint64_t{1}).Put('x');
  CheckContains(message(name), not_utf8);
  CheckContains(message(head(1).Name("k").Name("\xFF").Put(std::uint64_t{0})), not_utf8);
  CHECK(message(head(1).Name("k").Name("\xC3\xA4").Put(std::uint64_t{0})) == "no error");
  CheckContains(message(head(2).Name("k").Name("1").Name("k").Name("2").Put(std::uint64_t{0})),
                "every key of the metadata is there once; 'k' is there twice");
}

TEST_CASE("every shortened binary file is refused", "[io]") {
  const TempDir directory;
  const std::string whole = OneTensor().text + std::string(8, '\0');
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string path = directory.Write("w", whole.substr(0, length));
    CHECK_THROWS_AS(OpenBinaryWeights(path), WeightFileError);
  }
}

}  // namespace
}  // namespace frugal::testing
