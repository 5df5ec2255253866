#include <filesystem>

#include "builders/capture/capture_training.h"
#include "samples/020_error_gallery/case.h"
#include "samples/020_error_gallery/tiny_training.h"
#include "sdk/capture/calls/elementwise_calls.h"
#include "sdk/capture/profile/profile_capture.h"
#include "sdk/capture/store/capture_reader.h"
#include "sdk/capture/store/tensor_store.h"
#include "sdk/capture/verify/verify_capture.h"

namespace frugal::gallery {
namespace {

// Makes a capture of one copy of 8,192 zeros in `captured`, and returns the path of the tensor.
std::string CaptureOne() {
  std::filesystem::remove_all("captured");
  CaptureHeader header;
  header.version = "0.1.0";
  header.backend = "onednn";
  header.threads = 1;
  CaptureWriter writer("captured", header, {});
  HeapAllocator heap;
  CopyCall call;
  call.from = Tensor(heap, {8192}, DType::kF32, MemoryTag::kWorkspace);
  std::ranges::fill(call.from.values<float>(), 0.F);
  call.to = call.from;
  const CallPlace place = {.path = "head"};
  writer.Before(call, place);
  writer.After(call, place);
  for (const auto& file : std::filesystem::directory_iterator("captured/tensors")) {
    return file.path().string();
  }
  return "";
}

void ReadOne() {
  CaptureReader reader("captured");
  HeapAllocator heap;
  reader.View(reader.entries().front(), 0, Moment::kBefore, heap);
}

void EditManifest(const std::string& from, const std::string& to) {
  CaptureOne();
  std::string text = ReadFile("captured/manifest.jsonl");
  text.replace(text.find(from), from.size(), to);
  WriteFile("captured/manifest.jsonl", text);
  static_cast<void>(MakeCall(CaptureReader("captured").entries().front().call));
}

std::vector<Case> Reading() {
  return {
      {"A capture that is not there", "frugal verify captures/a",
       [] { VerifyCapture("captures/a"); }},
      {"A capture of another version", "manifest.jsonl: \"frugal_capture\":2",
       [] { EditManifest("\"frugal_capture\":1", "\"frugal_capture\":2"); }},
      {"A line of a manifest that was edited", "manifest.jsonl: \"role\":\"inptu\"",
       [] { EditManifest("\"role\":\"input\"", "\"role\":\"inptu\""); }},
      {"An operation that nobody knows", "manifest.jsonl: \"operation\":\"copier\"",
       [] { EditManifest("\"operation\":\"copy\"", "\"operation\":\"copier\""); }},
      {"A captured tensor that was cut short", "all but the last 100 bytes",
       [] {
         const std::string path = CaptureOne();
         const std::string content = ReadFile(path);
         WriteFile(path, content.substr(0, content.size() - 100));
         ReadOne();
       }},
      {"A captured tensor that was changed", "its last byte is 1",
       [] {
         const std::string path = CaptureOne();
         std::string content = ReadFile(path);
         content.back() = 1;
         WriteFile(path, content);
         ReadOne();
       }},
      {"Operations that were not captured", "frugal verify captured --select 'attention*'",
       [] {
         CaptureOne();
         VerifyOptions options;
         options.selection.patterns = {"attention*"};
         VerifyCapture("captured", options);
       }},
  };
}

}  // namespace

Chapter Captures() {
  std::vector<Case> cases = {
      {"A capture over something else", "frugal capture run.toml --out full, with a file in there",
       [] {
         std::filesystem::create_directories("full");
         WriteFile("full/note.txt", "mine");
         WriteTinyData();
         CaptureTraining(TinyTraining().Plan(), {.directory = "full"});
       }},
      {"A capture of two devices", "num_devices = 2; frugal capture run.toml --out two",
       [] {
         WriteTinyData();
         TrainingMemoryConfig memory;
         memory.num_devices = 2;
         CaptureTraining(TinyTraining().Memory(memory).Plan(), {.directory = "two"});
       }},
      {"A baseline that is no profile", "frugal profile captured --baseline run.json",
       [] { ProfileFromJson("{\"steps\": 3}", "run.json"); }},
  };
  for (Case& one : Reading()) cases.push_back(std::move(one));
  return {"Captures", std::move(cases)};
}

}  // namespace frugal::gallery
