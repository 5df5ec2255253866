#include "builders/snapshot/export_weights.h"

#include <vector>

#include "sdk/io/weights/open_weights.h"
#include "sdk/module/parameter_store.h"

namespace frugal {
namespace {

// The name of what a weight file has of a parameter: of its average, where there is one.
std::string NameIn(const StateFiles& state, const std::string& path) {
  std::string average = StateName(path, ParameterStore::kAverage);
  return state.Find(average) != nullptr ? average : ValueName(path);
}

}  // namespace

void ExportWeights(const Snapshot& snapshot, const std::string& path) {
  const StateFiles& state = *snapshot.state;
  std::vector<StoredTensor> tensors;
  std::vector<std::string> names;
  for (const std::string& parameter : snapshot.stand.parameters) {
    names.push_back(NameIn(state, parameter));
    const StoredTensor* stored = state.Find(names.back());
    if (stored == nullptr) {
      throw SnapshotError({.where = snapshot.path,
                           .required = "the snapshot has each of the network's parameters",
                           .given = "it has none called '" + parameter + "'",
                           .advice = "use another snapshot"});
    }
    tensors.push_back({parameter, stored->shape, stored->dtype});
  }
  const auto writer =
      CreateWeights(path, FormatToWrite(path), tensors, state.files().front()->Metadata());
  for (std::size_t i = 0; i < names.size(); ++i) {
    writer->Write(tensors[i].name, state.BytesOf(names[i]));
  }
  writer->Finish();
}

}  // namespace frugal
