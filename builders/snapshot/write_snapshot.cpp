#include "builders/snapshot/write_snapshot.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <tuple>

#include "sdk/core/core_rotation.h"
#include "sdk/core/version.h"
#include "sdk/io/atomic_file.h"
#include "sdk/io/file_error.h"
#include "sdk/io/json_integer.h"
#include "sdk/io/snapshots/snapshot_store.h"
#include "sdk/io/weights/safetensors.h"
#include "sdk/io/whole_file.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kLongestWait = std::chrono::minutes(10);  // of one rank for another's file
constexpr std::int64_t kTurnBytes = 4 << 20;             // that are written from one core
constexpr auto kPause = std::chrono::milliseconds(20);

std::string RankName(int rank, const char* ending) {
  return "rank-" + std::to_string(rank) + ending;
}

SnapshotFile WriteText(const std::string& directory, const std::string& name,
                       const std::string& text) {
  AtomicFile file(directory + "/" + name);
  file.Append(text);
  file.Commit();
  return {.name = name, .bytes = file.size(), .hash = file.Hash()};
}

// Tensors go in the order of the file, so that its hash is made while it is written.
SnapshotFile WriteTensors(const std::string& directory, const std::string& name,
                          std::vector<StateTensor> tensors, const WeightMetadata& metadata,
                          std::int64_t busy_threads = 0) {
  std::ranges::sort(tensors, [](const StateTensor& a, const StateTensor& b) {
    const StoredDType one = ToStored(a.dtype), other = ToStored(b.dtype);
    return std::tie(other, a.name) < std::tie(one, b.name);
  });
  std::vector<StoredTensor> list;
  list.reserve(tensors.size());
  for (const StateTensor& tensor : tensors) {
    list.push_back({tensor.name, tensor.shape, ToStored(tensor.dtype)});
  }
  const auto writer =
      CreateSafetensors(directory + "/" + name, std::move(list), metadata, PageCache::kBypass);
  CoreRotation rotation(busy_threads, kTurnBytes);
  for (const StateTensor& tensor : tensors) {
    if (tensor.read) {
      writer->Write(tensor.name, tensor.size(), tensor.read);
      continue;
    }
    if (tensor.held == nullptr) {
      writer->Write(tensor.name, tensor.bytes);
      continue;
    }
    writer->Write(tensor.name, std::ssize(tensor.bytes),
                  [&](std::int64_t at, std::span<std::byte> part) {
                    rotation.Work(std::ssize(part));
                    tensor.held->Read(at, part);
                  });
  }
  writer->Finish();
  return {.name = name, .bytes = writer->bytes(), .hash = writer->Hash()};
}

SnapshotFile WriteCurves(const std::string& directory, const TrainingStand& stand) {
  const auto tensor = [](const char* name, const std::vector<double>& values) {
    return StateTensor{.name = name,
                       .shape = {std::ssize(values)},
                       .dtype = DType::kF64,
                       .bytes = std::as_bytes(std::span(values))};
  };
  const TrainingResult none;
  const TrainingResult& result = stand.progress ? stand.progress->result : none;
  return WriteTensors(
      directory, "curves.safetensors",
      {tensor("losses", result.losses), tensor("gradient_norms", result.gradient_norms)}, {});
}

void WaitFor(const std::string& path, const std::string& what) {
  const auto begin = std::chrono::steady_clock::now();
  std::error_code error;
  while (!std::filesystem::exists(path, error)) {
    if (std::chrono::steady_clock::now() - begin > kLongestWait) {
      RefuseFile(path, what, "it did not come for ten minutes",
                 "let all processes see one directory of snapshots, and look at their errors");
    }
    std::this_thread::sleep_for(kPause);
  }
}

// Each rank tells the first one by a small file that its large one is there, or why it is not.
void Tell(const std::string& directory, int rank, const Json& what) {
  WriteText(directory, RankName(rank, ".json"), what.dump());
}

SnapshotFile FileOf(const std::string& directory, int rank) {
  const std::string path = directory + "/" + RankName(rank, ".json");
  WaitFor(path, "rank " + std::to_string(rank) + " writes its part of a snapshot");
  const Json json = Json::parse(ReadWholeFile(path), nullptr, false);
  if (json.is_discarded() || json.contains("failed")) {
    RefuseFile(path, "rank " + std::to_string(rank) + " writes its part of a snapshot",
               json.is_discarded() ? "it says nothing" : json["failed"].get<std::string>());
  }
  CurrentFileSystem().Remove(path);
  return {.name = json.at("name").get<std::string>(),
          .bytes = JsonInteger(json.at("bytes")),
          .hash = json.at("xxh3").get<std::string>()};
}

std::int64_t WriteOther(const std::string& path, const SnapshotContent& content) {
  const std::string partial = PartialPath(path);
  try {
    const SnapshotFile file = WriteTensors(partial, RankName(content.rank, ".safetensors"),
                                           content.state, content.metadata, content.busy_threads);
    Tell(partial, content.rank, {{"name", file.name}, {"bytes", file.bytes}, {"xxh3", file.hash}});
    return file.bytes;
  } catch (const Error& error) {
    Tell(partial, content.rank, {{"failed", error.what()}});
    throw;
  }
}

std::int64_t WriteFirst(const std::string& path, const SnapshotContent& content) {
  const std::string partial = PartialPath(path);
  SnapshotManifest manifest{.version = FRUGAL_VERSION,
                            .step = content.stand.position.step,
                            .monitor = content.monitor,
                            .monitored = content.monitored,
                            .files = {}};
  manifest.files.push_back(WriteTensors(partial, RankName(0, ".safetensors"), content.state,
                                        content.metadata, content.busy_threads));
  std::int64_t bytes = manifest.files.back().bytes;
  manifest.files.push_back(WriteText(partial, "configuration.toml", content.stand.configuration));
  manifest.files.push_back(WriteText(partial, "progress.json", StandText(content.stand)));
  manifest.files.push_back(WriteCurves(partial, content.stand));
  for (int rank = 1; rank < content.ranks; ++rank) {
    manifest.files.push_back(FileOf(partial, rank));
  }
  CommitSnapshot(path, manifest);
  return bytes;
}

}  // namespace

std::int64_t WriteBegunSnapshot(const std::string& path, const SnapshotContent& content) {
  if (content.rank > 0) return WriteOther(path, content);
  try {
    return WriteFirst(path, content);
  } catch (...) {
    AbandonSnapshot(path);
    throw;
  }
}

std::int64_t WriteSnapshot(const std::string& path, const SnapshotContent& content) {
  BeginSnapshot(path);
  return WriteBegunSnapshot(path, content);
}

}  // namespace frugal
