#include "builders/cli/snapshot_text.h"

#include <map>

#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal::cli {
namespace {

struct Kind {
  std::int64_t tensors = 0;
  std::int64_t bytes = 0;
};

// "value", "state.0", "state.1", "average"
std::map<std::string, Kind> KindsIn(const StateFiles& state) {
  std::map<std::string, Kind> kinds;
  for (const auto& file : state.files()) {
    for (const StoredTensor& tensor : file->Entries()) {
      Kind& kind = kinds[tensor.name.substr(0, tensor.name.find('/'))];
      ++kind.tensors;
      kind.bytes += ByteCount(tensor);
    }
  }
  return kinds;
}

std::string ProgressLines(const TrainingProgress& progress) {
  const TrainingResult& result = progress.result;
  std::string text = "training     epoch " + FormatCount(progress.epoch) + ", behind " +
                     FormatCount(progress.steps_in_epoch) + " of its steps; " +
                     DurationText(progress.seconds) + " so far\n";
  if (!result.losses.empty()) {
    text += "loss         " + CompactText(result.losses.back(), 6) + " in the last step\n";
  }
  if (!result.evaluations.empty()) {
    const Evaluation& last = result.evaluations.back();
    text += "evaluation   loss " + CompactText(last.result.loss, 6);
    if (last.result.accuracy) text += ", accuracy " + PercentText(*last.result.accuracy);
    text += ", behind step " + FormatCount(last.step) + "\n";
  }
  return text;
}

}  // namespace

std::string SnapshotText(const Snapshot& snapshot) {
  const SnapshotManifest& manifest = snapshot.manifest;
  std::string text = snapshot.path + "\nbehind step  " + FormatCount(manifest.step) +
                     "\nwritten by   frugal " + manifest.version + "\n";
  if (snapshot.stand.progress) text += ProgressLines(*snapshot.stand.progress);
  if (manifest.monitored) {
    text += "monitor      " + manifest.monitor + " = " + CompactText(*manifest.monitored, 6) + "\n";
  }
  TextTable files;
  files.columns = {{"file"}, {"bytes", true}, {"XXH3"}};
  for (const SnapshotFile& file : manifest.files) {
    files.rows.push_back({file.name, FormatCount(file.bytes), file.hash});
  }
  TextTable kinds;
  kinds.columns = {{"of parameters"}, {"tensors", true}, {"bytes", true}};
  for (const auto& [name, kind] : KindsIn(*snapshot.state)) {
    kinds.rows.push_back({name, FormatCount(kind.tensors), FormatCount(kind.bytes)});
  }
  return text + "\n" + ToText(files) + "\n" + ToText(kinds);
}

}  // namespace frugal::cli
