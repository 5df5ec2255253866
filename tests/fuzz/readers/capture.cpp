#include <array>
#include <filesystem>
#include <stdexcept>

#include "sdk/capture/capture_error.h"
#include "sdk/capture/store/capture_reader.h"
#include "sdk/capture/store/tensor_store.h"
#include "sdk/io/file_hash.h"
#include "sdk/io/weights/safetensors.h"
#include "sdk/memory/system_memory.h"
#include "tests/fuzz/readers/file_reader.h"
#include "tests/fuzz/readers/memory_directory.h"

namespace frugal::testing {
namespace {

constexpr std::array<float, 4> kValues = {1, -2, 3, -4};
const Shape kShape = {2, 2};

std::span<const std::byte> Bytes() { return std::as_bytes(std::span(kValues)); }

std::string HashOfValues() { return ContentHashOf(Bytes()).Hex(); }

// Makes what the manifest of a valid capture tells of: one tensor in its own file, one in the
// entry's.
void FillWithTensors(const std::string& directory) {
  for (const char* name : {"/tensors", "/entries"}) {
    std::filesystem::create_directory(directory + name);
  }
  TensorStore(directory).Put(HashOfValues(), kShape, DType::kF32, Bytes());
  const auto writer =
      CreateSafetensors(directory + "/entries/000001-relu.safetensors",
                        {{"out.y", kShape, StoredDType::kF32}}, {}, PageCache::kLeaveIn);
  writer->Write("out.y", Bytes());
  writer->Finish();
}

void ReadTensor(CaptureReader& capture, const CaptureEntry& entry, std::size_t buffer,
                Moment moment) {
  static HeapAllocator memory;
  try {
    const Tensor tensor = capture.Read(entry, buffer, moment, memory);
    if (tensor.shape() != entry.call.buffers[buffer].shape) {
      throw std::logic_error("a tensor has the shape of its buffer");
    }
    static_cast<void>(capture.View(entry, buffer, moment, memory));
  } catch (const Error&) {  // of a file that is not there or not as it was recorded
  }
}

void Read(const std::string& path) {
  static const MemoryDirectory directory;
  static const bool is_filled = (FillWithTensors(directory.path()), true);
  static_cast<void>(is_filled);
  directory.Put(path, "manifest.jsonl");
  CaptureReader capture(directory.path());
  for (const CaptureEntry& entry : capture.entries()) {
    const std::string line = ToJson(entry);
    if (ToJson(EntryFromJson(line, "here")) != line) {
      throw std::logic_error("an entry comes back as it was");
    }
    for (std::size_t i = 0; i < entry.call.buffers.size(); ++i) {
      if (entry.call.buffers[i].read) ReadTensor(capture, entry, i, Moment::kBefore);
      if (entry.call.buffers[i].written) ReadTensor(capture, entry, i, Moment::kAfter);
    }
  }
}

CaptureEntry Entry() {
  CaptureEntry entry;
  entry.number = 1;
  entry.file = "entries/000001-relu.safetensors";
  entry.place.path = "hidden";
  entry.call.kernel = "relu_forward";
  entry.call.attributes = {{"count", std::int64_t{4}}, {"slope", 0.5}, {"seed", std::uint64_t{7}}};
  entry.call.operands = {{.name = "x", .role = OperandRole::kInput, .shape = {4}, .buffer = 0},
                         {.name = "y", .role = OperandRole::kOutput, .shape = kShape, .buffer = 1}};
  const TensorPart row{.extents = {2}, .box = {.offset = 2, .strides = {1}}};
  entry.call.buffers = {{.name = "x", .shape = kShape, .read = true},
                        {.name = "y", .shape = kShape, .written = true, .parts = {row}}};
  entry.before = {{HashOfValues(), true}, {}};
  entry.after = {{}, {HashOfValues(), false}};
  return entry;
}

std::string Manifest() {
  CaptureHeader header;
  header.version = "0.1.0";
  header.backend = "onednn";
  header.precision = "f32";
  return ToJson(header) + "\n" + ToJson(Entry()) + "\n";
}

// The manifest with a change at the last place that has it.
std::string Changed(const std::string& from, const std::string& to) {
  std::string text = Manifest();
  const std::size_t at = text.rfind(from);
  if (at == std::string::npos) throw std::logic_error("the manifest has no " + from);
  return text.replace(at, from.size(), to);
}

std::vector<FileCase> Cases() {
  const std::string whole = Manifest();
  const std::string none = "a line of a capture's manifest";
  return {
      {"valid", whole, ""},
      {"header_alone", whole.substr(0, whole.find('\n') + 1), ""},
      {"torn_line", whole.substr(0, whole.size() - 9), ""},
      {"empty", "", "it is empty"},
      {"a_list", "[]\n", none},
      {"cut_short", whole.substr(0, whole.find('\n') / 2), none},
      {"another_form", "{\"frugal_capture\": 2, \"version\": \"9\"}\n", "a capture of form 1"},
      {"fraction_as_form", "{\"frugal_capture\": 8e36, \"version\": \"9\"}\n", none},
      {"nested_deep", std::string(100'000, '[') + "\n", none},
      {"not_utf8", "{\"frugal_capture\": \"\xFF\"}\n", none},
      {"file_outside", Changed("entries/000001-relu.safetensors", "entries/../../passwd"),
       "is no file in entries/"},
      {"file_absolute", Changed("entries/000001-relu.safetensors", "/etc/passwd"),
       "is no file in entries/"},
      {"hash_is_a_path", Changed(HashOfValues(), "../../../../../../../etc/passwd00"),
       "is no hash"},
      {"negative_extents", Changed("\"shape\":[2,2]", "\"shape\":[-2,-2]"), "negative"},
      {"overflowing_shape", Changed("\"shape\":[2,2]", "\"shape\":[4294967296,4294967296]"), none},
      {"huge_shape",
       Changed("\"shape\":[2,2],\"bytes\":16,\"after\"",
               "\"shape\":[1099511627776],\"bytes\":16,\"after\""),
       "does not fit its tensor"},
      {"rank_9", Changed("\"shape\":[2,2]", "\"shape\":[1,1,1,1,1,1,1,1,1]"), "8 dimensions"},
      {"buffer_not_there", Changed("\"buffer\":1", "\"buffer\":2"), "does not fit its tensor"},
      {"buffer_negative", Changed("\"buffer\":1", "\"buffer\":-1"), "does not fit its tensor"},
      {"buffer_a_fraction", Changed("\"buffer\":1", "\"buffer\":1e300"), none},
      {"part_outside", Changed("\"offset\":2", "\"offset\":3"), "a part lies outside"},
      {"part_overflows", Changed("\"offset\":2", "\"offset\":9223372036854775807"),
       "a part lies outside"},
      {"stride_overflows", Changed("\"strides\":[1", "\"strides\":[9223372036854775807"),
       "a part lies outside"},
      {"stride_a_fraction", Changed("\"strides\":[1", "\"strides\":[1e300"), none},
      {"strides_missing", Changed("\"strides\":[1,0,0,0,0,0,0,0]", "\"strides\":[1]"),
       "a part has 8 strides"},
  };
}

}  // namespace

FileReader CaptureFileReader() {
  return {.name = "capture",
          .read = Read,
          .cases = Cases,
          .bytes_per_byte = 128,
          .fixed_bytes = std::size_t{1} << 20};
}

}  // namespace frugal::testing
