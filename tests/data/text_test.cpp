#include "sdk/data/text.h"

#include <zlib.h>

#include <filesystem>
#include <numeric>

#include "sdk/core/error.h"
#include "sdk/memory/system_memory.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

using Numbers = std::vector<std::int64_t>;

// Every byte differs from its neighbours, and values above 127 occur.
std::string Letters(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>(i * 37 % 251);
  return text;
}

std::string WriteGzip(const TempDir& directory, const std::string& content) {
  const std::string path = directory.File("text.gz");
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  return path;
}

struct Windows {
  Numbers inputs;
  Numbers targets;
  bool operator==(const Windows&) const = default;
};

Windows Read(const TextInfo& info, DatasetPart part, const Numbers& samples) {
  HeapAllocator memory;
  const auto source = OpenText(info, part, TakeTextStorage(memory, info, part));
  CHECK(source->count() == (part == DatasetPart::kTrain ? info.train_count : info.test_count));
  const auto count = static_cast<std::int64_t>(samples.size());
  const Tensor inputs(memory, {count, info.sequence_length}, DType::kI64, MemoryTag::kData);
  const Tensor targets(memory, {count, info.sequence_length}, DType::kI64, MemoryTag::kData);
  source->Fill(samples, inputs, targets);
  const auto x = inputs.values<std::int64_t>();
  const auto y = targets.values<std::int64_t>();
  return {Numbers(x.begin(), x.end()), Numbers(y.begin(), y.end())};
}

Numbers Bytes(const std::string& text, std::size_t begin, std::size_t count) {
  Numbers bytes;
  for (const char c : text.substr(begin, count)) bytes.push_back(static_cast<std::uint8_t>(c));
  return bytes;
}

std::string Refusal(const TextOptions& options) {
  const std::string text = MessageOf<Error>([&] { DescribeText(options); });
  const std::string where = "[" + options.path + "] ";
  return text.starts_with(where) ? text.substr(where.size()) : text;
}

TEST_CASE("samples of a text are windows, and targets the bytes that follow", "[data]") {
  const TempDir directory;
  const std::string text = Letters(31);  // 10 windows of 3, one byte behind them
  const TextInfo info = DescribeText({directory.Write("text", text), 3, 0.3});
  CHECK(info.train_count == 7);
  CHECK(info.test_count == 3);
  const Windows train = Read(info, DatasetPart::kTrain, {4, 0, 6});
  CHECK(Numbers(train.inputs.begin(), train.inputs.begin() + 3) == Bytes(text, 12, 3));
  CHECK(Numbers(train.targets.begin(), train.targets.begin() + 3) == Bytes(text, 13, 3));
  CHECK(Numbers(train.inputs.begin() + 3, train.inputs.begin() + 6) == Bytes(text, 0, 3));
  CHECK(Numbers(train.targets.begin() + 6, train.targets.end()) == Bytes(text, 19, 3));
  // The tail, contiguous: its first input is the byte behind the last input to train on.
  const Windows test = Read(info, DatasetPart::kTest, {0, 1, 2});
  CHECK(test.inputs == Bytes(text, 21, 9));
  CHECK(test.targets == Bytes(text, 22, 9));
}

TEST_CASE("a text's layout has a label for each position", "[data]") {
  const TempDir directory;
  const DataLayout layout = LayoutOf(DescribeText({directory.Write("text", Letters(50)), 4, 0.5}));
  CHECK(layout.BatchShape(6) == Shape{6, 4});
  CHECK(layout.TargetBatchShape(6) == Shape{6, 4});
  CHECK(layout.vocabulary == 256);
  CHECK(layout.classes == 256);
  CHECK(layout.InputType(DType::kF32) == DType::kI64);
  CHECK(DataLayout{.sample_shape = {4}, .classes = 2, .target_shape = {}}.InputType(DType::kF64) ==
        DType::kF64);
  CHECK(DataLayout{.sample_shape = {4}, .classes = 2, .target_shape = {}}.TargetBatchShape(3) ==
        Shape{3});
}

TEST_CASE("the share to test on leaves something for both parts", "[data]") {
  const TempDir directory;
  const auto counts = [&](std::size_t bytes, double fraction) {
    const TextInfo info = DescribeText({directory.Write("text", Letters(bytes)), 5, fraction});
    return std::pair(info.train_count, info.test_count);
  };
  using Counts = std::pair<std::int64_t, std::int64_t>;
  CHECK(counts(11, 0.0) == Counts{2, 0});
  CHECK(counts(11, 0.001) == Counts{1, 1});
  CHECK(counts(11, 0.9) == Counts{1, 1});
  CHECK(counts(15, 0.5) == Counts{1, 1});  // the last four bytes fill no window
  CHECK(counts(16, 0.5) == Counts{1, 2});
  CHECK(counts(501, 0.1) == Counts{90, 10});
}

TEST_CASE("a gzipped text is the same as the plain one", "[data]") {
  const TempDir directory;
  const std::string text = Letters(300'001);  // more than any buffer
  const TextInfo plain = DescribeText({directory.Write("text", text), 1000, 0.25});
  const TextInfo packed = DescribeText({WriteGzip(directory, text), 1000, 0.25});
  CHECK(packed.train_count == plain.train_count);
  CHECK(packed.test_count == plain.test_count);
  for (const DatasetPart part : {DatasetPart::kTrain, DatasetPart::kTest}) {
    Numbers all(static_cast<std::size_t>(part == DatasetPart::kTrain ? 225 : 75));
    std::iota(all.begin(), all.end(), 0);
    const Windows windows = Read(packed, part, all);
    CHECK(windows == Read(plain, part, all));
    const std::size_t begin = part == DatasetPart::kTrain ? 0 : 225'000;
    CHECK(windows.targets == Bytes(text, begin + 1, all.size() * 1000));
  }
}

TEST_CASE("a text keeps its bytes as they are", "[data]") {
  const TempDir directory;
  const TextInfo info = DescribeText({directory.Write("text", Letters(101)), 10, 0.2});
  HeapAllocator memory;
  const Tensor train = TakeTextStorage(memory, info, DatasetPart::kTrain);
  CHECK(train.dtype() == DType::kU8);
  CHECK(train.bytes() == 81);
  CHECK(TakeTextStorage(memory, info, DatasetPart::kTest).bytes() == 21);
}

TEST_CASE("texts that cannot be read are refused", "[data]") {
  const TempDir directory;
  CHECK(Refusal({directory.File("missing")}) ==
        "a file of the data set must exist; there is no such file; check the path");
  CHECK(Refusal({directory.File("")}) ==
        "a file of the data set must be a regular file; this is a directory; name a file that can "
        "be read");
  CHECK(Refusal({directory.Write("empty", "")}) ==
        "a file of the data set has content; this file is empty; fetch it again");
  CHECK(Refusal({"/dev/null"}) ==
        "a file of the data set must be a regular file; this is a device or a pipe; name a file "
        "that can be read");
  const std::string packed = ReadAll(WriteGzip(directory, Letters(5000)));
  CHECK(Refusal({directory.Write("cut.gz", packed.substr(0, packed.size() / 2))}) ==
        "the file unpacks to its end; the compressed data are cut short; fetch it again");
  std::string damaged = packed;
  damaged[damaged.size() - 6] ^= 1;  // its checksum
  CHECK(Refusal({directory.Write("damaged.gz", damaged)}) ==
        "the file unpacks to its end; the compressed data are damaged; fetch it again");
}

TEST_CASE("texts too short for two samples are refused", "[data]") {
  const TempDir directory;
  const std::string required =
      "a text has bytes for two samples of sequence_length = 8 and one behind them; it has ";
  const std::string advice = " bytes; use a longer text, or a smaller sequence_length";
  CHECK(Refusal({directory.Write("text", Letters(16)), 8}) == required + "16" + advice);
  CHECK(Refusal({directory.Write("text", Letters(1)), 8}) == required + "1" + advice);
  CHECK(Refusal({WriteGzip(directory, ""), 8}) == required + "0" + advice);
  CHECK(Refusal({WriteGzip(directory, Letters(16)), 8}) == required + "16" + advice);
  CHECK(Refusal({directory.Write("text", Letters(17)), 8}) == "no error");
  CheckContains(Refusal({directory.Write("text", Letters(17)), INT64_MAX}), "it has 17 bytes");
}

TEST_CASE("options out of range are refused", "[data]") {
  const TempDir directory;
  const std::string path = directory.Write("text", Letters(100));
  CHECK(Refusal({""}) == "[text] text_file is the path of a file; it is empty");
  CHECK(Refusal({path, 0}) == "[text] sequence_length is at least 1; 0 was given");
  CheckContains(Refusal({path, 8, 0.91}), "test_fraction is from 0 to 0.9");
  CheckContains(Refusal({path, 8, -0.1}), "test_fraction is from 0 to 0.9");
  CheckContains(Refusal({path, 8, std::nan("")}), "test_fraction is from 0 to 0.9");
}

TEST_CASE("a text that has become shorter is refused", "[data]") {
  const TempDir directory;
  const std::string path = directory.Write("text", Letters(101));
  const TextInfo info = DescribeText({path, 10, 0.2});
  directory.Write("text", Letters(85));
  const auto open = [&](DatasetPart part) {
    return MessageOf<DataError>([&] { Read(info, part, {0}); });
  };
  CHECK(open(DatasetPart::kTrain) == "no error");
  CheckContains(open(DatasetPart::kTest), "it ends at byte 85, before 101");
  directory.Write("text", Letters(40));
  CheckContains(open(DatasetPart::kTrain), "it ends at byte 40, before 81");
  CheckContains(open(DatasetPart::kTest), "it ends at byte 40, before 101");
  std::filesystem::remove(path);
  CheckContains(open(DatasetPart::kTrain), "there is no such file");
}

}  // namespace
}  // namespace frugal::testing
