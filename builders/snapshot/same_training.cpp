#include "builders/snapshot/same_training.h"

#include <algorithm>
#include <set>

#include "builders/config/run_config_reader.h"
#include "builders/config/text/training_text.h"
#include "sdk/core/log.h"
#include "sdk/core/threads.h"
#include "sdk/io/whole_file.h"

namespace frugal {
namespace {

constexpr std::size_t kMostNamed = 10;
constexpr std::string_view kValue = "value/";

// "optimizer.lr is 0.2, and was 0.1", a line each.
std::string ListOf(const std::vector<ConfigDifference>& differences) {
  std::string text;
  for (const ConfigDifference& one : differences) {
    text += "\n  " + one.key + " is " + one.now + ", and was " + one.before;
  }
  return text;
}

std::string ListOf(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kMostNamed ? text + ", ..." : text;
}

void RequireSameConfiguration(const Snapshot& snapshot, const PlannedTraining& planned) {
  const RunConfig before =
      ReadValuesText(snapshot.stand.configuration, snapshot.path + "/configuration.toml");
  const auto differences = DifferencesInNumbers(before, planned.config);
  if (differences.empty()) return;
  throw ConfigError({.where = snapshot.path,
                     .required = "a training goes on with the values that its numbers depend on",
                     .given = "these are others:" + ListOf(differences),
                     .advice = "set them as they were, or begin anew in another directory"});
}

void RequireSameParameters(const Snapshot& snapshot, const PlannedTraining& planned) {
  std::set<std::string> known;
  std::vector<std::string> missing, other, unexpected;
  for (const Parameter* parameter : planned.parameters) {
    known.insert(parameter->path);
    const StoredTensor* stored = snapshot.state->Find(ValueName(parameter->path));
    if (stored == nullptr) {
      missing.push_back(parameter->path);
    } else if (!(stored->shape == parameter->shape)) {
      other.push_back(parameter->path + " is " + ToString(stored->shape) + ", not " +
                      ToString(parameter->shape));
    }
  }
  for (const auto& file : snapshot.state->files()) {
    for (const StoredTensor& tensor : file->Entries()) {
      if (!tensor.name.starts_with(kValue)) continue;
      const std::string path = tensor.name.substr(kValue.size());
      if (!known.contains(path)) unexpected.push_back(path);
    }
  }
  std::string given;
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) given += (given.empty() ? "" : "; ") + std::string(what) + ListOf(names);
  };
  add("missing: ", missing);
  add("of another shape: ", other);
  add("unexpected: ", unexpected);
  if (given.empty()) return;
  throw SnapshotError({.where = snapshot.path,
                       .required = "the snapshot has exactly the network's parameters",
                       .given = given,
                       .advice = "resume with the network that it was saved of"});
}

// The order of an epoch is one of so many samples.
void RequireSameData(const Snapshot& snapshot, const PlannedTraining& planned) {
  const std::int64_t before = snapshot.stand.train_samples;
  const std::int64_t now = planned.schedule.train_samples;
  if (before == now) return;
  throw SnapshotError({.where = snapshot.path,
                       .required = "a training goes on with the data that it began with",
                       .given = std::to_string(now) + " training samples, and " +
                                std::to_string(before) + " before",
                       .advice = "give it the same data, or begin anew in another directory"});
}

}  // namespace

std::int64_t ThreadsOf(const PlannedTraining& planned) {
  return planned.threads > 0 ? planned.threads : MostThreads();
}

void RequireSameTraining(const Snapshot& snapshot, const PlannedTraining& planned) {
  RequireSameConfiguration(snapshot, planned);
  RequireSameParameters(snapshot, planned);
  RequireSameData(snapshot, planned);
  const std::int64_t before = snapshot.stand.threads, now = ThreadsOf(planned);
  if (before == now) return;
  LogWarning(snapshot.path + " is of a training on " + std::to_string(before) +
             " threads, and this one has " + std::to_string(now) +
             ": some sums go in another order then, so that its last bits may be others");
}

RunConfig ConfigurationOf(const std::string& snapshot, const std::vector<std::string>& overrides) {
  ReadManifest(snapshot);
  const std::string path = snapshot + "/configuration.toml";
  const std::string text = ReadWholeFile(path);
  if (text.find("\n[model]") == std::string::npos) {
    throw SnapshotError({.where = path,
                         .required = "a configuration that describes the network",
                         .given = "a program made it by a function of its own",
                         .advice = "make the model in that program, and call Model::Resume"});
  }
  return ReadRunConfigText(text, path, overrides);
}

}  // namespace frugal
