#pragma once

#include <string>
#include <vector>

#include "sdk/capture/call_description.h"
#include "sdk/capture/recorder/call_recorder.h"

namespace frugal {

inline constexpr std::int64_t kCaptureForm = 1;  // of the files below, counted from 1

// Says what all entries of a capture have in common.
struct CaptureHeader {
  std::int64_t form = kCaptureForm;
  std::string version;  // of frugal
  std::string backend;
  std::string precision;
  std::int64_t threads = 0;
  std::string instruction_set;
  std::string configuration_hash;  // 16 hexadecimal digits
  std::string configuration;       // a name for people
  std::uint64_t seed = 0;
};

// The content of a tensor in files: nothing where the hash is empty.
struct StoredContent {
  std::string hash{};   // ContentHash of its bytes
  bool shared = false;  // in tensors/HASH.safetensors; else in the entry's own file
};

// One call that was recorded. The buffers of `call` have no tensors; contents are beside them.
struct CaptureEntry {
  std::int64_t number = 0;
  CallPlace place;
  CallDescription call;
  std::vector<StoredContent> before{};  // by buffer: what is read
  std::vector<StoredContent> after{};   // by buffer: what is written
  std::string file{};                   // "entries/000123-linear_forward.safetensors"

  // "entry 12, linear_forward in blocks.0.mlp"
  std::string Describe() const;
};

// Returns one line without its end. Numbers come back as they were, to the bit.
std::string ToJson(const CaptureHeader& header);
std::string ToJson(const CaptureEntry& entry);
// Throw CaptureError where the text is not of this form or of another version; `where` names it.
CaptureHeader HeaderFromJson(const std::string& text, const std::string& where);
CaptureEntry EntryFromJson(const std::string& text, const std::string& where);

// Names of tensors in an entry's own file.
inline std::string BeforeName(const CallBuffer& buffer) { return "in." + buffer.name; }
inline std::string AfterName(const CallBuffer& buffer) { return "out." + buffer.name; }

}  // namespace frugal
