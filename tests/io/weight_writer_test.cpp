#include "sdk/io/weights/weight_writer.h"

#include <sys/stat.h>

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

using Format = WeightsFileFormat;

TEST_CASE("an interrupted write leaves the older file and nothing else", "[io]") {
  const auto format = GENERATE(Format::kSafetensors, Format::kJson, Format::kBinary);
  const TempDir directory;
  const std::string path = directory.Write("w", "precious");
  const auto a = F32("a", {2}, {1, 2});
  {
    const auto writer = CreateWeights(path, format, ListOf({a, F32("b", {1}, {3})}));
    writer->Write("a", a.bytes);
    CHECK(directory.Count() == 2);
    CHECK(ReadAll(path) == "precious");
  }
  CHECK(ReadAll(path) == "precious");
  CHECK(directory.Count() == 1);
}

TEST_CASE("tensors come once each, in order and in full", "[io]") {
  const TempDir directory;
  const std::string path = directory.File("w");
  const auto a = F32("a", {2}, {1, 2});
  const auto b = F32("b", {1}, {3});
  const auto writer = CreateWeights(path, Format::kAuto, ListOf({a, b}));
  const auto write = [&](const NamedBytes& weight) {
    return MessageOf<UsageError>([&] { writer->Write(weight.tensor.name, weight.bytes); });
  };
  const std::string where = "[" + path + "] ";
  CHECK(write(b) == where + "next is tensor 'a' (F32 [2]); 'b' was given");
  CHECK(write(F32("a", {1}, {1})) == where + "tensor 'a' (F32 [2]) takes 8 bytes; 4 were given");
  CHECK(write(a) == "no error");
  CHECK(MessageOf<UsageError>([&] { writer->Finish(); }) ==
        where + "all tensors are written before Finish(); tensor 'b' (F32 [1]) is missing");
  CHECK(write(b) == "no error");
  CHECK(write(b) == where + "all tensors are written; 'b' was given");
  writer->Finish();
  CHECK_THROWS_AS(writer->Finish(), UsageError);
  CHECK(OpenWeights(path)->Entries().size() == 2);
}

TEST_CASE("lists that no reader would take back are refused", "[io]") {
  const TempDir directory;
  const std::string path = directory.File("w");
  const auto refusal = [&](std::vector<StoredTensor> list) {
    return MessageOf<UsageError>([&] { CreateWeights(path, Format::kAuto, list); });
  };
  const std::string where = "[" + path + "] ";
  CHECK(refusal({{"a", {1}}, {"a", {2}}}) ==
        where + "every weight is listed once; 'a' is there twice");
  CHECK(refusal({{"", {1}}}) == where + "every weight has a name of its own; '' was given");
  CheckContains(refusal({{"__metadata__", {1}}}), "'__metadata__' was given");
  CheckContains(refusal({{"\xff", {1}}}), "names of weights are UTF-8");
  CheckContains(refusal({{"a", {-1}}}), "tensor 'a' (F32 [-1]) was given");
  CHECK_THROWS_AS(CreateWeights(path, Format::kAuto, {}, {{"k", "\xff"}}), UsageError);
  CHECK(directory.Count() == 0);
}

TEST_CASE("places where no file can be written are refused before any work", "[io]") {
  const TempDir directory;
  const auto refusal = [](const std::string& path) {
    return MessageOf<FileError>([&] { CreateWeights(path, Format::kAuto, {}); });
  };
  const std::string nowhere = directory.File("no/such/w");
  CHECK(refusal(nowhere) == "[" + nowhere +
                                "] a file is written into a directory that exists; there is no "
                                "directory '" +
                                directory.File("no/such") + "'; create it first");
  const std::string folder = directory.File("folder");
  std::filesystem::create_directory(folder);
  CheckContains(refusal(folder), "is a directory");
  CheckContains(refusal("/dev/null"), "is a device");
  CheckContains(refusal(""), "the path is empty");
}

TEST_CASE("the size of a file is known before it is written", "[io]") {
  const auto format = GENERATE(Format::kSafetensors, Format::kJson, Format::kBinary);
  const TempDir directory;
  const std::string path = directory.File("w");
  const std::vector<NamedBytes> weights = {
      F32("a.\"quoted\".w", {2, 3}, {1, -1.17549435e-38F, 0.1F, 3e38F, 5, 6}), F32("none", {0}, {}),
      Named("z", {2}, StoredDType::kF64, std::vector<double>{-2.2250738585072014e-308, 1})};
  for (const auto& list : {std::vector<NamedBytes>(), weights}) {
    WriteWeights(path, format, list);
    const auto written = static_cast<std::int64_t>(std::filesystem::file_size(path));
    const std::int64_t planned = WeightsFileBytes(format, ListOf(list));
    if (format == Format::kJson) {
      CHECK(planned >= written);
    } else {
      CHECK(planned == written);
    }
  }
}

TEST_CASE("the name of a file tells the form that it is written in", "[io]") {
  CHECK(FormatToWrite("w.safetensors") == Format::kSafetensors);
  CHECK(FormatToWrite("w") == Format::kSafetensors);
  CHECK(FormatToWrite("w.best") == Format::kSafetensors);
  CHECK(FormatToWrite("dir.json/w") == Format::kSafetensors);
  CHECK(FormatToWrite("w.JSON") == Format::kJson);
  CHECK(FormatToWrite("w.bin") == Format::kBinary);
  CheckContains(MessageOf<FileError>([] { FormatToWrite("w.pt"); }), "'.pt' is another form");
}

TEST_CASE("a link is written through, not replaced", "[io]") {
  const TempDir directory;
  const std::string target = directory.Write("target", "old");
  const std::string link = directory.File("link");
  std::filesystem::create_symlink(target, link);
  WriteWeights(link, Format::kAuto, {F32("a", {1}, {1})});
  CHECK(std::filesystem::is_symlink(link));
  CHECK(OpenWeights(target)->Entries().size() == 1);
}

}  // namespace
}  // namespace frugal::testing
