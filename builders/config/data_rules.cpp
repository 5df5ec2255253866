#include "builders/config/data_rules.h"

#include <cmath>

#include "builders/config/dataset.h"
#include "builders/config/dataset_registry.h"
#include "builders/config/owned_fields.h"
#include "presets/config/value.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"
#include "sdk/data/dataset_info.h"

namespace frugal {
namespace {

constexpr const char* kImages = "images";
constexpr const char* kText = "a text";
constexpr const char* kRegistered = "data of a program";

std::vector<OwnedField> FieldsInUse(const DataOptions& options) {
  const DataOptions defaults;
  const std::vector<std::string> images = {kImages};
  // Images that are predicted are scaled, whatever the network was trained on.
  const std::vector<std::string> scaled = {RegisteredRow(options) ? kRegistered : kImages};
  const std::vector<std::string> text = {kText};
  return {{"train_images", options.train_images.has_value(), images},
          {"train_labels", options.train_labels.has_value(), images},
          {"test_images", options.test_images.has_value(), images},
          {"test_labels", options.test_labels.has_value(), images},
          {"sample_shape", options.sample_shape.has_value(), images},
          {"train_count", options.train_count.has_value(), images},
          {"test_count", options.test_count.has_value(), images},
          {"classes", options.classes.has_value(), images},
          {"classes_used", options.classes_used.has_value(), images},
          {"mean", options.mean != defaults.mean, scaled},
          {"std", options.std != defaults.std, scaled},
          {"sequence_length", options.sequence_length != defaults.sequence_length, text},
          {"test_fraction", options.test_fraction != defaults.test_fraction, text}};
}

// Returns true where a file or a command line names the field. Code replaces whole sections, and
// what it puts back to its default by that is not meant.
bool IsWritten(const Origin& origin) {
  return origin.IsExplicit() && origin.kind != OriginKind::kCode;
}

// The name of a data set, given by hand, says that it is meant.
void CheckName(const RunConfig& config, const std::string& given, Diagnostics& diagnostics) {
  const Origin& origin = config.origins.Of("data.dataset");
  if (!IsWritten(origin) || FindDataset(config.data.dataset) == nullptr) return;
  diagnostics.Add(origin.location,
                  {.where = "data",
                   .required = "dataset = " + QuoteToml(config.data.dataset) +
                               (NamedDataset(config.data.dataset) ? " is built-in images"
                                                                  : " is data of a program"),
                   .given = given,
                   .advice = "leave one of the two out"});
}

// Pixels are f32 once they are normalized: black and white must be different finite numbers then.
void CheckNormalization(const RunConfig& config, Diagnostics& diagnostics) {
  const double mean = config.data.mean;
  const double std = config.data.std;
  const auto black = static_cast<float>((0 - mean) / std);
  const auto white = static_cast<float>((1 - mean) / std);
  if (std::isfinite(black) && std::isfinite(white) && black != white) return;
  const bool by_mean =
      config.data.mean != DataOptions().mean && std::abs(mean) > 1e6;  // else no such std will do
  const std::string key = by_mean ? "mean" : "std";
  diagnostics.Add(config.origins.PlaceOf("data." + key),
                  {.where = "data." + key,
                   .required = "(pixel - mean) / std is a finite f32, and differs for pixels 0 "
                               "and 1",
                   .given = CompactText(mean, 6) + " and " + CompactText(std, 6) + " make " +
                            CompactText(black, 6) + " and " + CompactText(white, 6),
                   .advice = "give the mean and the standard deviation of pixels in [0, 1]"});
}

// A count says how many samples the files have, and those of built-in images are known.
void CheckCounts(const RunConfig& config, Diagnostics& diagnostics) {
  const DataOptions& options = config.data;
  const std::optional<DatasetInfo> info = NamedDataset(options.dataset);
  if (!info) return;
  const auto check = [&](const std::string& part, const std::optional<std::int64_t>& given,
                         std::int64_t known, bool own_files) {
    if (own_files || given.value_or(known) == known) return;
    const std::string key = part + "_count";
    diagnostics.Add(config.origins.PlaceOf("data." + key),
                    {.where = "data",
                     .required = QuoteToml(options.dataset) + " has " + FormatCount(known) + " " +
                                 part + " samples",
                     .given = key + " = " + std::to_string(*given),
                     .advice = "leave it out; " + part + "_limit takes fewer of them"});
  };
  check("train", options.train_count, info->train_count,
        options.train_images.has_value() || options.train_labels.has_value());
  check("test", options.test_count, info->test_count,
        options.test_images.has_value() || options.test_labels.has_value());
}

// Tables of options belong to the data set that they are named after.
void CheckOptionsOf(const RunConfig& config, Diagnostics& diagnostics) {
  const DatasetRow* row = RegisteredRow(config.data);
  const std::string given = config.data.text_file
                                ? "text_file = " + QuoteToml(*config.data.text_file)
                                : "dataset = " + QuoteToml(config.data.dataset);
  std::vector<OwnedField> tables;
  for (const OwnFields* own : DatasetOptionFields().Rows()) {
    tables.push_back({own->name, false, {own->name}});
  }
  const std::size_t before = diagnostics.size();
  CheckOwnedFields(config,
                   {.section = "data",
                    .kind = row == nullptr ? "" : row->name,
                    .key = "dataset",
                    .owner = "dataset = ",
                    .given = given,
                    .advice = "leave it out, or change the dataset"},
                   tables, diagnostics);
  if (diagnostics.size() > before) return;
  CheckOwnOptions(config,
                  {.section = "data",
                   .owner = "the data set that dataset names",
                   .given = given,
                   .defaults = row == nullptr ? OwnOptions() : row->options},
                  config.data.options, diagnostics);
}

}  // namespace

void CheckDatasetName(const RunConfig& config, Diagnostics& diagnostics) {
  if (const std::optional<Diagnostic> problem = NameProblem(config.data)) {
    diagnostics.Add(config.origins.PlaceOf("data.dataset"), *problem);
  }
}

void CheckDataFields(const RunConfig& config, Diagnostics& diagnostics) {
  const DataOptions& options = config.data;
  CheckOptionsOf(config, diagnostics);
  if (RegisteredRow(options) != nullptr) {
    const std::string given = "dataset = " + QuoteToml(options.dataset);
    CheckOwnedFields(config,
                     {.section = "data",
                      .kind = kRegistered,
                      .quotes_owners = false,
                      .given = given,
                      .advice = "leave it out, or change the dataset"},
                     FieldsInUse(options), diagnostics);
    return CheckNormalization(config, diagnostics);
  }
  const bool is_text = options.text_file.has_value();
  const std::string given =
      is_text ? "text_file = " + QuoteToml(*options.text_file) : "there is no text_file";
  CheckOwnedFields(
      config,
      {.section = "data",
       .kind = is_text ? kText : kImages,
       .quotes_owners = false,
       .given = given,
       .advice = is_text ? "leave one of the two out" : "leave it out, or name a text"},
      FieldsInUse(options), diagnostics);
  if (is_text) return CheckName(config, given, diagnostics);
  CheckDatasetName(config, diagnostics);
  CheckCounts(config, diagnostics);
  CheckNormalization(config, diagnostics);
}

}  // namespace frugal
