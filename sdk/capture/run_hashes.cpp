#include "sdk/capture/run_hashes.h"

#include <cstdio>
#include <span>

#include "sdk/capture/replay.h"
#include "sdk/memory/system_memory.h"

namespace frugal {
namespace {

ContentHash HashOf(const CallBuffer& buffer) {
  static HeapAllocator heap;
  const Tensor tensor = Masked(buffer.tensor, buffer.parts, heap);
  return ContentHashOf(
      {static_cast<const std::byte*>(tensor.raw()), static_cast<std::size_t>(tensor.bytes())});
}

// An attribute as text, which numbers of other bits have another of.
std::string TextOf(const AttributeValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* shape = std::get_if<Shape>(&value)) return ToString(*shape);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* bits = std::get_if<std::uint64_t>(&value)) return std::to_string(*bits);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", std::get<double>(value));
  return text;
}

ContentHash HashOf(const AttributeValue& value) {
  const std::string text = TextOf(value);
  return ContentHashOf(std::as_bytes(std::span(text)));
}

std::string Text(const std::string& kernel, const CallPlace& place) {
  return kernel + " in " + (place.path.empty() ? "the step" : place.path) +
         (place.backward ? ", backward" : "");
}

}  // namespace

bool HashRecorder::Wants(const Call& call, const CallPlace& place) {
  return selection_.Takes(call.name(), place.path);
}

void HashRecorder::Before(Call& call, const CallPlace& place) {
  HashedCall& hashed = calls_.emplace_back();
  hashed.kernel = call.name();
  hashed.place = place;
  const CallDescription description = Describe(call);
  for (const auto& [name, value] : description.attributes) {
    hashed.attributes.push_back(HashOf(value));
  }
  for (const CallBuffer& buffer : description.buffers) {
    if (buffer.read) hashed.before.push_back(HashOf(buffer));
  }
}

void HashRecorder::After(Call& call, const CallPlace&) {
  for (const CallBuffer& buffer : Describe(call).buffers) {
    if (buffer.written) calls_.back().after.push_back(HashOf(buffer));
  }
}

std::int64_t HashRecorder::tensors() const {
  std::int64_t count = 0;
  for (const HashedCall& call : calls_) count += std::ssize(call.before) + std::ssize(call.after);
  return count;
}

bool HashComparer::Wants(const Call& call, const CallPlace& place) {
  return !done_ && selection_.Takes(call.name(), place.path);
}

void HashComparer::Part(RunDifference::Kind kind, const CallPlace& place, const std::string& tensor,
                        std::string first, std::string second) {
  if (done_) return;
  done_ = true;
  difference_ =
      RunDifference{kind, next_, kernel_, place, tensor, std::move(first), std::move(second)};
}

void HashComparer::Before(Call& call, const CallPlace& place) {
  kernel_ = call.name();
  const std::string here = Text(kernel_, place);
  if (next_ >= std::ssize(first_)) {
    Part(RunDifference::Kind::kEnd, place, "", "the end", here);
    return;
  }
  const HashedCall& other = first_[static_cast<std::size_t>(next_)];
  const std::string there = Text(other.kernel, other.place);
  if (there != here || other.place.step != place.step) {
    Part(RunDifference::Kind::kCall, place, "", there, here);
    return;
  }
  const CallDescription description = Describe(call);
  for (std::size_t i = 0; i < description.attributes.size(); ++i) {
    const auto& [name, value] = description.attributes[i];
    if (i < other.attributes.size() && HashOf(value) == other.attributes[i]) continue;
    Part(RunDifference::Kind::kAttribute, place, name, "", TextOf(value));
    return;
  }
  std::size_t at = 0;
  for (const CallBuffer& buffer : description.buffers) {
    if (!buffer.read) continue;
    const ContentHash hash = HashOf(buffer);
    if (at >= other.before.size() || hash != other.before[at]) {
      Part(RunDifference::Kind::kInput, place, buffer.name,
           at < other.before.size() ? other.before[at].Hex() : "none", hash.Hex());
      return;
    }
    ++at;
  }
}

void HashComparer::After(Call& call, const CallPlace& place) {
  if (done_) return;
  const HashedCall& other = first_[static_cast<std::size_t>(next_)];
  std::size_t at = 0;
  for (const CallBuffer& buffer : Describe(call).buffers) {
    if (!buffer.written) continue;
    const ContentHash hash = HashOf(buffer);
    if (at >= other.after.size() || hash != other.after[at]) {
      Part(RunDifference::Kind::kOutput, place, buffer.name,
           at < other.after.size() ? other.after[at].Hex() : "none", hash.Hex());
      return;
    }
    ++at;
  }
  ++next_;
}

void HashComparer::End() {
  if (done_ || next_ >= std::ssize(first_)) return;
  const HashedCall& other = first_[static_cast<std::size_t>(next_)];
  kernel_ = other.kernel;
  Part(RunDifference::Kind::kEnd, other.place, "", Text(other.kernel, other.place), "the end");
}

}  // namespace frugal
