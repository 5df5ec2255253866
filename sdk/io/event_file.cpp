#include "sdk/io/event_file.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "sdk/io/crc32c.h"
#include "sdk/io/file_error.h"
#include "sdk/io/protobuf_writer.h"

namespace frugal {
namespace {

namespace fs = std::filesystem;

// Fields of Event.
constexpr int kWallTime = 1;
constexpr int kStep = 2;
constexpr int kFileVersion = 3;
constexpr int kSummary = 5;
constexpr int kSessionLog = 7;
// The field of SessionLog, and its value for a start.
constexpr int kStatus = 1;
constexpr int kStart = 1;
// Fields of Summary and of its Values.
constexpr int kValue = 1;
constexpr int kTag = 1;
constexpr int kSimpleValue = 2;

double SecondsSinceEpoch() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::string HostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string FileName() {
  return "events.out.tfevents." + std::to_string(static_cast<std::int64_t>(SecondsSinceEpoch())) +
         "." + HostName() + "." + std::to_string(::getpid());
}

std::string LittleEndian(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// A checksum of data that hold checksums themselves would be weak: it is turned and shifted.
std::string MaskedChecksum(std::string_view bytes) {
  const std::uint32_t crc = Crc32c(bytes);
  const std::uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
  return LittleEndian(masked, 4);
}

AppendFile::Purpose PurposeOfEvents() {
  return {.required = "events for TensorBoard can be written",
          .advice = "name another directory for output.tensorboard"};
}

// Makes the directory, and returns the path of a file of events in it that is not there yet.
std::string FileIn(const std::string& directory) {
  const std::error_code error = MakeDirectories(CurrentFileSystem(), directory);
  const auto [required, advice] = PurposeOfEvents();
  if (error) RefuseFile(directory, required, error.message(), advice);
  const std::string first = (fs::path(directory) / FileName()).string();
  std::string path = first;
  std::error_code unknown;
  for (int i = 1; fs::exists(path, unknown); ++i) path = first + "." + std::to_string(i);
  return path;
}

}  // namespace

EventFile::EventFile(const std::string& directory)
    : file_(FileIn(directory), OpenMode::kNew, PurposeOfEvents()) {
  ProtobufWriter event;
  event.AddDouble(kWallTime, SecondsSinceEpoch());
  event.AddText(kFileVersion, "brain.Event:2");
  WriteRecord(event.bytes());
}

void EventFile::BeginAgainAt(std::int64_t step) {
  ProtobufWriter session;
  session.AddInteger(kStatus, kStart);
  ProtobufWriter event;
  event.AddDouble(kWallTime, SecondsSinceEpoch());
  event.AddInteger(kStep, step);
  event.AddText(kSessionLog, session.bytes());
  WriteRecord(event.bytes());
}

void EventFile::Write(std::int64_t step, const std::vector<Scalar>& scalars) {
  ProtobufWriter summary;
  for (const Scalar& scalar : scalars) {
    ProtobufWriter value;
    value.AddText(kTag, scalar.tag);
    value.AddFloat(kSimpleValue, static_cast<float>(scalar.value));
    summary.AddText(kValue, value.bytes());
  }
  ProtobufWriter event;
  event.AddDouble(kWallTime, SecondsSinceEpoch());
  event.AddInteger(kStep, step);
  event.AddText(kSummary, summary.bytes());
  WriteRecord(event.bytes());
}

void EventFile::WriteRecord(std::string_view message) {
  const std::string length = LittleEndian(message.size(), 8);
  std::string record = length + MaskedChecksum(length);
  record += message;
  file_.Append(record + MaskedChecksum(message));
}

}  // namespace frugal
