#include "sdk/io/weights/weight_source.h"

#include <algorithm>
#include <utility>

#include "sdk/core/byte_size.h"
#include "sdk/core/utf8.h"
#include "sdk/io/weights/convert_elements.h"
#include "sdk/io/weights/weight_error.h"

namespace frugal {

WeightSource::WeightSource(std::string path, std::vector<StoredTensor> entries,
                           WeightMetadata metadata)
    : path_(std::move(path)), entries_(std::move(entries)), metadata_(std::move(metadata)) {
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    const std::string_view name = entries_[at].name;
    index_.emplace(name, at);
    const std::size_t dot = name.find('.');
    if (dot != std::string_view::npos) below_.emplace_back(name.substr(dot + 1), &entries_[at]);
  }
  std::ranges::sort(below_, {}, [](const auto& entry) {
    return std::pair<std::string_view, std::string_view>(entry.first, entry.second->name);
  });
}

const StoredTensor* WeightSource::Find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

std::vector<const StoredTensor*> WeightSource::FindBelow(std::string_view rest) const {
  const auto first = [](const auto& entry) { return entry.first; };
  std::vector<const StoredTensor*> found;
  // Not std::ranges::equal_range, whose subrange clang 14 cannot compile.
  for (auto at = std::ranges::lower_bound(below_, rest, {}, first);
       at != below_.end() && at->first == rest; ++at) {
    found.push_back(at->second);
  }
  return found;
}

std::size_t WeightSource::IndexOf(std::string_view name) const {
  const auto found = index_.find(name);
  if (found != index_.end()) return found->second;
  RefuseWeights(path_, "tensor " + QuotedName(name) + " is wanted",
                "the file has " + FormatCount(std::ssize(entries_)) + " tensors, not this one",
                "list them with 'frugal inspect'");
}

void WeightSource::Read(const StoredTensor& tensor, std::span<std::byte> destination) const {
  const std::size_t index = IndexOf(tensor.name);
  const StoredTensor& entry = entries_[index];
  if (std::ssize(destination) != ByteCount(entry)) {
    RefuseWeights(path_, Describe(entry) + " holds " + FormatCount(ByteCount(entry)) + " bytes",
                  "it was to be read into " + FormatCount(std::ssize(destination)));
  }
  ReadEntry(index, destination);
}

template <class T>
void WeightSource::ReadAs(std::string_view name, std::span<T> destination) const {
  const std::size_t index = IndexOf(name);
  const StoredTensor& entry = entries_[index];
  if (std::ssize(destination) != entry.shape.ElementCount()) {
    RefuseWeights(
        path_, Describe(entry) + " holds " + FormatCount(entry.shape.ElementCount()) + " elements",
        "it was to be read into " + FormatCount(std::ssize(destination)));
  }
  const std::span<std::byte> bytes = std::as_writable_bytes(destination);
  if (entry.dtype == ToStored(DTypeOf<T>())) return ReadEntry(index, bytes);

  const auto stored = static_cast<std::size_t>(ByteCount(entry));
  std::vector<std::byte> wider(stored > bytes.size() ? stored : 0);
  const std::span<std::byte> raw = wider.empty() ? bytes.last(stored) : std::span(wider);
  ReadEntry(index, raw);
  if (const auto misfit = ConvertElements(entry.dtype, raw.data(), destination)) {
    RefuseWeights(path_,
                  Describe(entry) + " is wanted as " + std::string(NameOf(ToStored(DTypeOf<T>()))),
                  "its element " + FormatCount(static_cast<std::int64_t>(*misfit)) +
                      " does not fit that type");
  }
}

void WeightSource::ReadAsF32(std::string_view name, std::span<float> destination) const {
  ReadAs(name, destination);
}

void WeightSource::ReadAsF64(std::string_view name, std::span<double> destination) const {
  ReadAs(name, destination);
}

void WeightSource::ReadAsI64(std::string_view name, std::span<std::int64_t> destination) const {
  ReadAs(name, destination);
}

}  // namespace frugal
