#include "sdk/data/class_filter.h"

#include <algorithm>
#include <array>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/data/gzip_idx.h"
#include "sdk/data/image_decode.h"

namespace frugal {
namespace {

constexpr std::uint8_t kUnused = 255;

// The new label of each old one.
using LabelMap = std::array<std::uint8_t, 256>;

LabelMap MapOf(const std::vector<std::int64_t>& classes) {
  LabelMap map;
  map.fill(kUnused);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    map[static_cast<std::size_t>(classes[i])] = static_cast<std::uint8_t>(i);
  }
  return map;
}

void CheckClasses(const DatasetInfo& info, const std::vector<std::int64_t>& classes) {
  const auto refuse = [&](const std::string& given) {
    throw ConfigError({.where = "data",
                       .required = "classes_used names some of the classes 0 to " +
                                   std::to_string(info.classes - 1) + ", each once",
                       .given = given,
                       .advice = "e.g. classes_used = [0, 1]"});
  };
  if (classes.empty()) refuse("it names none");
  for (auto it = classes.begin(); it != classes.end(); ++it) {
    if (*it < 0 || *it >= info.classes) refuse(std::to_string(*it) + " was given");
    if (std::find(classes.begin(), it, *it) != it) refuse(std::to_string(*it) + " is there twice");
  }
  // One value of a byte stands for samples that are left out.
  if (std::ssize(classes) > kUnused) refuse("all 256 were given; leave it out");
}

const std::string& LabelFile(const DatasetInfo& info, DatasetPart part) {
  return part == DatasetPart::kTrain ? info.files.train_labels : info.files.test_labels;
}

// New labels of all samples of the file, kUnused for those that are left out.
std::vector<std::uint8_t> ReadMapped(const DatasetInfo& info, DatasetPart part) {
  const std::int64_t count = part == DatasetPart::kTrain ? info.train_count : info.test_count;
  const std::string& path = LabelFile(info, part);
  // The file's header is held against `count` before anything of that size is allocated.
  if (ReadIdxHeader(path).shape != Shape{count}) ReadIdxInto(path, {count}, {});
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(count));
  ReadIdxInto(path, {count}, labels);
  CheckLabels(path, labels, info.classes);
  const LabelMap map = MapOf(info.classes_used);
  for (std::uint8_t& label : labels) label = map[label];
  return labels;
}

std::int64_t CountUsed(const std::vector<std::uint8_t>& mapped) {
  return std::ssize(mapped) - std::ranges::count(mapped, kUnused);
}

std::int64_t CountUsed(const DatasetInfo& info, DatasetPart part) {
  const std::int64_t used = CountUsed(ReadMapped(info, part));
  if (used > 0) return used;
  throw DataError({.where = LabelFile(info, part),
                   .required = "some samples are of the classes in classes_used",
                   .given = "none is",
                   .advice = "choose other classes"});
}

}  // namespace

void UseClasses(DatasetInfo& info, std::vector<std::int64_t> classes) {
  CheckClasses(info, classes);
  info.classes_used = std::move(classes);
  info.train_used = CountUsed(info, DatasetPart::kTrain);
  info.test_used = CountUsed(info, DatasetPart::kTest);
}

std::vector<std::uint8_t> ReadUsedLabels(const DatasetInfo& info, DatasetPart part,
                                         std::span<std::uint8_t> labels) {
  std::vector<std::uint8_t> mapped = ReadMapped(info, part);
  const std::int64_t used = CountUsed(mapped);
  if (used != std::ssize(labels)) {
    throw DataError({.where = LabelFile(info, part),
                     .required = "the file stays as it was when the training was planned, with " +
                                 FormatCount(std::ssize(labels)) + " samples of these classes",
                     .given = "now it has " + FormatCount(used),
                     .advice = "plan again"});
  }
  std::ranges::copy_if(mapped, labels.begin(), [](std::uint8_t label) { return label != kUnused; });
  for (std::uint8_t& label : mapped) label = label == kUnused ? 0 : 1;
  return mapped;
}

}  // namespace frugal
