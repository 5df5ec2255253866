#include "builders/data_rules.h"

#include <cmath>

#include "builders/report/number_text.h"
#include "presets/value.h"
#include "sdk/data/dataset_info.h"

namespace frugal {
namespace {

struct DataField {
  const char* key;
  bool is_set;
};

std::vector<DataField> ImageFields(const DataOptions& options) {
  const DataOptions defaults;
  return {{"train_images", options.train_images.has_value()},
          {"train_labels", options.train_labels.has_value()},
          {"test_images", options.test_images.has_value()},
          {"test_labels", options.test_labels.has_value()},
          {"sample_shape", options.sample_shape.has_value()},
          {"train_count", options.train_count.has_value()},
          {"test_count", options.test_count.has_value()},
          {"classes", options.classes.has_value()},
          {"classes_used", options.classes_used.has_value()},
          {"mean", options.mean != defaults.mean},
          {"deviation", options.deviation != defaults.deviation}};
}

std::vector<DataField> TextFields(const DataOptions& options) {
  const DataOptions defaults;
  return {{"sequence_length", options.sequence_length != defaults.sequence_length},
          {"test_fraction", options.test_fraction != defaults.test_fraction}};
}

// Whether a file or a command line names the field. Code replaces whole sections, and what it puts
// back to its default by that is not meant.
bool IsWritten(const Origin& origin) {
  return origin.IsExplicit() && origin.kind != OriginKind::kCode;
}

// The name of built-in images, given by hand, says that images are meant.
void CheckName(const RunConfig& config, const std::string& given, Complaints& complaints) {
  const Origin& origin = config.origins.Of("data.dataset");
  if (!IsWritten(origin) || !NamedDataset(config.data.dataset)) return;
  complaints.Add(origin.location,
                 {.where = "data",
                  .required = "dataset = " + QuoteToml(config.data.dataset) + " is built-in images",
                  .given = given,
                  .advice = "leave one of the two out"});
}

// Pixels are f32 once they are normalized: black and white must be different finite numbers then.
void CheckNormalization(const RunConfig& config, Complaints& complaints) {
  const double mean = config.data.mean;
  const double deviation = config.data.deviation;
  const auto black = static_cast<float>((0 - mean) / deviation);
  const auto white = static_cast<float>((1 - mean) / deviation);
  if (std::isfinite(black) && std::isfinite(white) && black != white) return;
  const bool by_mean = config.data.mean != DataOptions().mean &&
                       std::abs(mean) > 1e6;  // else no such deviation will do
  const std::string key = by_mean ? "mean" : "deviation";
  complaints.Add(
      config.origins.Of("data." + key).location,
      {.where = "data." + key,
       .required = "(pixel - mean) / deviation is a finite f32, and differs for pixels 0 "
                   "and 1",
       .given = CompactText(mean, 6) + " and " + CompactText(deviation, 6) + " make " +
                CompactText(black, 6) + " and " + CompactText(white, 6),
       .advice = "give the mean and the standard deviation of pixels in [0, 1]"});
}

}  // namespace

void CheckDataFields(const RunConfig& config, Complaints& complaints) {
  const DataOptions& options = config.data;
  const bool is_text = options.text_file.has_value();
  const std::string given =
      is_text ? "text_file = " + QuoteToml(*options.text_file) : "there is no text_file";
  for (const auto& [key, is_set] : is_text ? ImageFields(options) : TextFields(options)) {
    const Origin& origin = config.origins.Of(std::string("data.") + key);
    if (!is_set && !IsWritten(origin)) continue;
    complaints.Add(
        origin.location,
        {.where = "data",
         .required = std::string(key) + " belongs to " + (is_text ? "images" : "a text"),
         .given = given,
         .advice = is_text ? "leave one of the two out" : "leave it out, or name a text"});
  }
  if (is_text) CheckName(config, given, complaints);
  CheckNormalization(config, complaints);
}

}  // namespace frugal
