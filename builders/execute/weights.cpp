#include "builders/execute/weights.h"

#include <algorithm>
#include <set>

#include "builders/execute/checkpoint_keys.h"
#include "sdk/core/error.h"
#include "sdk/core/log.h"
#include "sdk/core/utf8.h"
#include "sdk/io/file_hash.h"
#include "sdk/io/weights/open_weights.h"

namespace frugal {
namespace {

constexpr std::size_t kMostNamed = 20;
constexpr std::size_t kMostOfName = 120;  // bytes

// "3 missing: a, b, c"
void AddList(std::string& text, const std::string& title, const std::vector<std::string>& names) {
  if (names.empty()) return;
  text += (text.empty() ? "" : "; ") + std::to_string(names.size()) + " " + title + ": ";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMostNamed) text += ", ...";
}

std::string Differences(const WeightSource& file, std::span<Parameter* const> parameters) {
  std::vector<std::string> missing;
  std::vector<std::string> misshaped;
  std::set<std::string> known;
  for (const Parameter* parameter : parameters) {
    known.insert(parameter->aliases.begin(), parameter->aliases.end());
    const StoredTensor* stored = FindCheckpointKey(file, *parameter);
    if (stored != nullptr) known.insert(stored->name);
    if (stored == nullptr) {
      missing.push_back(parameter->path);
    } else if (!(stored->shape == parameter->shape)) {
      misshaped.push_back(parameter->path + " is " + ToString(stored->shape) + ", not " +
                          ToString(parameter->shape));
    }
  }
  std::vector<std::string> unexpected;
  for (const StoredTensor& stored : file.Entries()) {
    if (!known.contains(stored.name) && !HoldsNothingLearned(stored)) {
      unexpected.push_back(Shortened(stored.name, kMostOfName));
    }
  }
  std::string text;
  AddList(text, "missing", missing);
  AddList(text, "of another shape", misshaped);
  AddList(text, "unexpected", unexpected);
  return text;
}

// Refuses whole numbers under the name of a parameter.
void CheckElementTypes(const WeightSource& file, std::span<Parameter* const> parameters) {
  std::vector<std::string> found;
  for (const Parameter* parameter : parameters) {
    const StoredTensor* stored = FindCheckpointKey(file, *parameter);
    if (stored != nullptr && IsInteger(stored->dtype)) {
      found.push_back(Shortened(stored->name, kMostOfName) + " is " +
                      std::string(NameOf(stored->dtype)));
    }
  }
  if (found.empty()) return;
  std::string given;
  AddList(given, "of whole numbers", found);
  throw WeightFileError({.where = file.Path(),
                         .required = "weights are F64, F32, F16 or BF16",
                         .given = given,
                         .advice = "is it a quantized model? use its original"});
}

WeightsFileFormat FileFormat(WeightsFormat format) {
  switch (format) {
    case WeightsFormat::kJson:
      return WeightsFileFormat::kJson;
    case WeightsFormat::kBinary:
      return WeightsFileFormat::kBinary;
    case WeightsFormat::kSafetensors:
      return WeightsFileFormat::kSafetensors;
    case WeightsFormat::kAuto:
      break;
  }
  return WeightsFileFormat::kAuto;
}

void TellNonFinite(const WeightSource& file, const std::string& name,
                   DivergencePolicy on_divergence) {
  const Diagnostic diagnostic = {
      .where = file.Path(),
      .required = "weights are finite numbers",
      .given = "tensor " + name + " holds some that are not",
      .advice =
          "use a file that was written before its training diverged, or set "
          "training.on_divergence = \"warn\""};
  if (on_divergence == DivergencePolicy::kStop) throw WeightFileError(diagnostic);
  LogWarning(Describe(diagnostic));
}

std::span<const std::byte> StoredBytes(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.raw()), static_cast<std::size_t>(tensor.bytes())};
}

}  // namespace

std::shared_ptr<const WeightSource> OpenModelWeights(const std::string& path, WeightsFormat format,
                                                     std::span<Parameter* const> parameters,
                                                     bool allow_missing) {
  LogDebug("reading weights from " + path);
  std::shared_ptr<const WeightSource> file = OpenWeights(path, FileFormat(format));
  CheckElementTypes(*file, parameters);
  const std::string differences = allow_missing ? "" : Differences(*file, parameters);
  if (differences.empty()) return file;
  throw WeightFileError({.where = path,
                         .required = "the file has exactly the model's tensors",
                         .given = differences,
                         .advice = "use the file of this model, or set model.allow_missing to take "
                                   "what fits and initialize the rest"});
}

std::optional<std::string> FirstNonFinite(std::span<Parameter* const> parameters,
                                          ParameterStore& store) {
  for (const Parameter* parameter : parameters) {
    if (store.IsMaterialized(*parameter) && !IsFinite(store.Value(*parameter))) {
      return parameter->path;
    }
  }
  return std::nullopt;
}

bool ReadInto(const WeightSource& file, const Parameter& parameter, const Tensor& value,
              DivergencePolicy on_divergence) {
  const StoredTensor* stored = FindCheckpointKey(file, parameter);
  if (stored == nullptr || !(stored->shape == parameter.shape)) return false;
  if (value.dtype() == DType::kF64) {
    file.ReadAsF64(stored->name, value.values<double>());
  } else {
    file.ReadAsF32(stored->name, value.values<float>());
  }
  if (!IsFinite(value)) TellNonFinite(file, stored->name, on_divergence);
  return true;
}

ValueSource SourceFrom(std::shared_ptr<const WeightSource> file, DivergencePolicy on_divergence) {
  return [file = std::move(file), on_divergence](const Parameter& parameter, const Tensor& value) {
    return ReadInto(*file, parameter, value, on_divergence);
  };
}

std::vector<StoredTensor> StoredTensorsOf(std::span<Parameter* const> parameters, DType dtype) {
  std::vector<StoredTensor> tensors;
  for (const Parameter* parameter : parameters) {
    tensors.push_back({parameter->path, parameter->shape, ToStored(dtype)});
  }
  return tensors;
}

void WriteWeights(const std::string& path, std::span<Parameter* const> parameters, DType dtype,
                  const WeightMetadata& metadata, const ValueLookup& values) {
  std::size_t asked = 0;
  try {
    const auto writer =
        CreateWeights(path, FormatToWrite(path), StoredTensorsOf(parameters, dtype), metadata);
    while (asked < parameters.size()) {
      const Parameter& parameter = *parameters[asked++];
      writer->Write(parameter.path, StoredBytes(values(parameter)));
    }
    writer->Finish();
  } catch (const FileError&) {
    while (asked < parameters.size()) values(*parameters[asked++]);  // others send theirs anyway
    throw;
  }
}

std::string HashWeights(std::span<Parameter* const> parameters, const ValueLookup& values) {
  FileHash hash;
  for (const Parameter* parameter : parameters) hash.Add(StoredBytes(values(*parameter)));
  return hash.Hex();
}

}  // namespace frugal
