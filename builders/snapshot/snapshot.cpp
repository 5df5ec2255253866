#include "builders/snapshot/snapshot.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sdk/io/json_integer.h"
#include "sdk/io/snapshots/snapshot_json.h"
#include "sdk/io/weights/safetensors.h"
#include "sdk/io/whole_file.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> Curve(const WeightSource& file, const char* name) {
  const StoredTensor* tensor = file.Find(name);
  if (tensor == nullptr || tensor->dtype != StoredDType::kF64 || tensor->shape.rank() != 1) {
    RefuseSnapshotFile(file.Path(), std::string(name) + " of its steps are missing");
  }
  std::vector<double> values(static_cast<std::size_t>(tensor->shape.ElementCount()));
  file.Read(*tensor, std::as_writable_bytes(std::span(values)));
  return values;
}

TrainingStand ReadStand(const std::string& directory) {
  const std::string path = directory + "/progress.json";
  TrainingStand stand;
  try {
    const Json json = Json::parse(ReadSnapshotJson(path));
    stand.position = {.step = JsonInteger(json.at("step")),
                      .schedule_begin = JsonInteger(json.at("schedule_begin"))};
    stand.epochs_run = JsonInteger(json.at("epochs_run"));
    stand.train_samples = JsonInteger(json.at("train_samples"));
    stand.threads = JsonInteger(json.at("threads"));
    stand.parameters = json.at("parameters").get<std::vector<std::string>>();
    if (!json.at("training").is_null()) {
      stand.progress = ReadProgress(json.at("training").dump());
    }
  } catch (const nlohmann::json::exception&) {
    RefuseSnapshotFile(path, "it does not say where a training stands");
  } catch (const std::invalid_argument& problem) {
    RefuseSnapshotFile(path, problem.what());
  }
  return stand;
}

void ReadCurves(const std::string& directory, TrainingProgress& progress) {
  const auto file = OpenSafetensors(directory + "/curves.safetensors");
  progress.result.losses = Curve(*file, "losses");
  progress.result.gradient_norms = Curve(*file, "gradient_norms");
  const auto steps = static_cast<std::size_t>(progress.result.steps);
  const std::size_t norms = progress.result.gradient_norms.size();
  if (progress.result.losses.size() != steps || (norms != steps && norms != 0)) {
    RefuseSnapshotFile(file->Path(), "it has other steps than progress.json");
  }
}

bool IsStateFile(const std::string& name) {
  return name.starts_with("rank-") && name.ends_with(".safetensors");
}

}  // namespace

std::string StandText(const TrainingStand& stand) {
  Json json = {{"step", stand.position.step},    {"schedule_begin", stand.position.schedule_begin},
               {"epochs_run", stand.epochs_run}, {"train_samples", stand.train_samples},
               {"threads", stand.threads},       {"parameters", stand.parameters}};
  json["training"] = stand.progress ? Json::parse(ProgressText(*stand.progress)) : Json();
  return json.dump(2) + "\n";
}

Snapshot OpenSnapshot(const std::string& path) {
  Snapshot snapshot{.path = path, .manifest = ReadManifest(path), .stand = {}, .state = nullptr};
  VerifySnapshot(path, snapshot.manifest);
  try {
    snapshot.stand = ReadStand(path);
    if (snapshot.stand.progress) ReadCurves(path, *snapshot.stand.progress);
    snapshot.stand.configuration = ReadWholeFile(path + "/configuration.toml");
    std::vector<std::unique_ptr<WeightSource>> files;
    for (const SnapshotFile& file : snapshot.manifest.files) {
      if (IsStateFile(file.name)) files.push_back(OpenSafetensors(path + "/" + file.name));
    }
    if (files.empty()) RefuseSnapshotFile(path, "none of its files has tensors");
    snapshot.state = std::make_shared<StateFiles>(std::move(files));
  } catch (const WeightFileError& error) {
    RefuseSnapshotFile(error.diagnostic().where, error.diagnostic().given);
  } catch (const DataError& error) {
    RefuseSnapshotFile(error.diagnostic().where, error.diagnostic().given);
  }
  return snapshot;
}

}  // namespace frugal
