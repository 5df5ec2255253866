#include "sdk/data/text.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sdk/core/error.h"
#include "sdk/data/gzip_file.h"

namespace frugal {
namespace {

constexpr std::int64_t kPieceBytes = 1 << 16;  // read at a time where nothing is kept

class Text final : public DataSource {
 public:
  Text(Tensor bytes, std::int64_t count, std::int64_t length)
      : bytes_(std::move(bytes)), count_(count), length_(static_cast<std::size_t>(length)) {}

  std::int64_t count() const override { return count_; }

  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    if (inputs) Copy(samples, 0, inputs);
    if (targets) Copy(samples, 1, targets);
  }

 private:
  // Copies the bytes of samples, shifted by so many.
  void Copy(std::span<const std::int64_t> samples, std::size_t shift, const Tensor& to) const {
    const auto bytes = bytes_.values<std::uint8_t>();
    auto* at = to.data<std::int64_t>();
    for (const std::int64_t sample : samples) {
      const std::size_t begin = static_cast<std::size_t>(sample) * length_ + shift;
      at = std::ranges::copy(bytes.subspan(begin, length_), at).out;
    }
  }

  Tensor bytes_;  // kU8 [count * length + 1]
  std::int64_t count_;
  std::size_t length_;
};

// Reads up to `bytes` bytes without keeping them; returns how many there were.
std::int64_t Skip(GzipFile& file, std::int64_t bytes) {
  std::vector<std::uint8_t> piece(static_cast<std::size_t>(std::min(bytes, kPieceBytes)));
  std::int64_t done = 0;
  while (done < bytes) {
    const auto wanted = static_cast<std::size_t>(std::min(bytes - done, kPieceBytes));
    const std::size_t got = file.Read(std::span(piece).first(wanted));
    done += static_cast<std::int64_t>(got);
    if (got < wanted) break;
  }
  return done;
}

std::int64_t CountBytes(const std::string& path) {
  GzipFile file(path);
  if (!file.Compressed()) return file.StoredBytes();
  std::int64_t bytes = 0;
  while (const std::int64_t got = Skip(file, kPieceBytes)) bytes += got;
  return bytes;
}

void CheckOptions(const TextOptions& options) {
  const auto refuse = [](const std::string& required, const std::string& given) {
    throw ConfigError({.where = "text", .required = required, .given = given, .advice = {}});
  };
  if (options.path.empty()) refuse("text_file is the path of a file", "it is empty");
  if (options.sequence_length < 1) {
    refuse("sequence_length is at least 1", std::to_string(options.sequence_length) + " was given");
  }
  if (!(options.test_fraction >= 0 && options.test_fraction <= 0.9)) {
    refuse("test_fraction is from 0 to 0.9", std::to_string(options.test_fraction) + " was given");
  }
}

// At least one sample for each part that there is to be.
std::int64_t TestCount(std::int64_t samples, double fraction) {
  if (fraction == 0) return 0;
  const auto share =
      static_cast<std::int64_t>(std::llround(static_cast<double>(samples) * fraction));
  return std::clamp<std::int64_t>(share, 1, samples - 1);
}

std::int64_t CountOf(const TextInfo& info, DatasetPart part) {
  return part == DatasetPart::kTrain ? info.train_count : info.test_count;
}

}  // namespace

TextInfo DescribeText(const TextOptions& options) {
  CheckOptions(options);
  const std::int64_t bytes = CountBytes(options.path);
  const std::int64_t length = options.sequence_length;
  const std::int64_t samples = bytes == 0 ? 0 : (bytes - 1) / length;
  if (samples < 2) {
    throw DataError({.where = options.path,
                     .required = "a text has bytes for two samples of sequence_length = " +
                                 std::to_string(length) + " and one behind them",
                     .given = "it has " + std::to_string(bytes) + " bytes",
                     .advice = "use a longer text, or a smaller sequence_length"});
  }
  const std::int64_t test_count = TestCount(samples, options.test_fraction);
  return {.path = options.path,
          .sequence_length = length,
          .train_count = samples - test_count,
          .test_count = test_count};
}

DataLayout LayoutOf(const TextInfo& info) {
  return {.sample_shape = {info.sequence_length},
          .classes = kByteValues,
          .target_shape = {},
          .train_count = info.train_count,
          .test_count = info.test_count,
          .vocabulary = kByteValues,
          .label_shape = {info.sequence_length}};
}

Tensor TakeTextStorage(Allocator& memory, const TextInfo& info, DatasetPart part) {
  const std::int64_t bytes = CountOf(info, part) * info.sequence_length + 1;
  return Tensor(memory, {bytes}, DType::kU8, MemoryTag::kData);
}

std::unique_ptr<DataSource> OpenText(const TextInfo& info, DatasetPart part, Tensor storage) {
  GzipFile file(info.path);
  const std::int64_t before =
      part == DatasetPart::kTrain ? 0 : info.train_count * info.sequence_length;
  const std::int64_t skipped = Skip(file, before);
  const std::size_t got = file.Read(storage.values<std::uint8_t>());
  if (skipped < before || got < storage.values<std::uint8_t>().size()) {
    throw DataError({.where = info.path,
                     .required = "a text stays as long as it was when the training was planned",
                     .given = "it ends at byte " +
                              std::to_string(skipped + static_cast<std::int64_t>(got)) +
                              ", before " + std::to_string(before + storage.size()),
                     .advice = "leave the file alone while a training runs, and start again"});
  }
  return std::make_unique<Text>(std::move(storage), CountOf(info, part), info.sequence_length);
}

}  // namespace frugal
