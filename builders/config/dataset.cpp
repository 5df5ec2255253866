#include "builders/config/dataset.h"

#include "presets/config/field_limits.h"
#include "presets/config/nearest_name.h"
#include "presets/config/value.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/data/class_filter.h"

namespace frugal {
namespace {

struct Part {
  const char* key;
  bool given;
};

std::vector<std::string> MissingParts(const DataOptions& options) {
  std::vector<std::string> missing;
  for (const Part& part : {Part{"train_images", options.train_images.has_value()},
                           Part{"train_labels", options.train_labels.has_value()},
                           Part{"test_images", options.test_images.has_value()},
                           Part{"test_labels", options.test_labels.has_value()},
                           Part{"sample_shape", options.sample_shape.has_value()},
                           Part{"train_count", options.train_count.has_value()},
                           Part{"test_count", options.test_count.has_value()},
                           Part{"classes", options.classes.has_value()}}) {
    if (!part.given) missing.emplace_back(part.key);
  }
  return missing;
}

// A data set whose NameProblem is none.
DatasetInfo OwnDataset(const DataOptions& options) {
  return DescribeDataset(options.dataset, {.files = {*options.train_images, *options.train_labels,
                                                     *options.test_images, *options.test_labels},
                                           .sample_shape = Shape(*options.sample_shape),
                                           .train_count = *options.train_count,
                                           .test_count = *options.test_count,
                                           .classes = *options.classes});
}

// Single files or sizes beside a built-in data set replace its own.
void Replace(const DataOptions& options, DatasetInfo& info) {
  if (options.train_images) info.files.train_images = *options.train_images;
  if (options.train_labels) info.files.train_labels = *options.train_labels;
  if (options.test_images) info.files.test_images = *options.test_images;
  if (options.test_labels) info.files.test_labels = *options.test_labels;
  if (options.sample_shape) info.sample_shape = Shape(*options.sample_shape);
  if (options.train_count) info.train_count = *options.train_count;
  if (options.test_count) info.test_count = *options.test_count;
  if (options.classes) info.classes = *options.classes;
}

DatasetInfo ImagesOf(const DataOptions& options) {
  std::optional<DatasetInfo> info = NamedDataset(options.dataset);
  if (!info) return OwnDataset(options);
  Replace(options, *info);
  return *info;
}

std::int64_t CountOf(const DataLayout& layout, DatasetPart part) {
  if (part == DatasetPart::kValidation) return layout.validation_count;
  return part == DatasetPart::kTrain ? layout.train_count : layout.test_count;
}

// The layout of registered data is what a function of the program says.
void CheckLayout(const RegisteredDataset& data) {
  const auto refuse = [&](std::string required, const std::string& given) {
    throw ConfigError({.where = "data",
                       .required = std::move(required),
                       .given = "the layout of " + QuoteToml(data.row->name) + " has " + given,
                       .advice = "correct its function `layout`, or the options"});
  };
  const DataLayout& layout = data.layout;
  for (const DatasetPart part :
       {DatasetPart::kTrain, DatasetPart::kTest, DatasetPart::kValidation}) {
    const std::int64_t count = CountOf(layout, part);
    const std::int64_t least = part == DatasetPart::kTrain ? 1 : 0;
    if (count >= least && static_cast<double>(count) <= kMostSamples) continue;
    refuse("the " + std::string(NameOf(part)) + " part has from " + std::to_string(least) +
               " to 2^40 samples",
           FormatCount(count));
  }
  for (const std::int64_t extent : layout.sample_shape.extents()) {
    if (extent < 1) refuse("all extents of a sample are at least 1", ToString(layout.sample_shape));
  }
}

RegisteredDataset Registered(const DatasetRow& row, const DataOptions& options) {
  RequireFunctions(row);
  RegisteredDataset data{.row = &row,
                         .options = options.options.empty() ? row.options : options.options,
                         .layout = {}};
  data.layout = row.layout(data.options);
  CheckLayout(data);
  return data;
}

std::shared_ptr<const DataSource> OpenRegistered(const RegisteredDataset& data, DatasetPart part) {
  std::shared_ptr<const DataSource> source = data.row->open(data.options, part);
  const std::string where = "data set " + data.row->name;
  const std::string name = "the " + std::string(NameOf(part)) + " part";
  if (source == nullptr) {
    throw UsageError({.where = where,
                      .required = "its function `open` returns a source",
                      .given = "it returned null for " + name,
                      .advice = "return one"});
  }
  const std::int64_t announced = CountOf(data.layout, part);
  if (source->count() == announced) return source;
  throw DataError({.where = where,
                   .required = name + " has the " + FormatCount(announced) +
                               " samples that the layout announces",
                   .given = "the source has " + FormatCount(source->count()),
                   .advice = "correct its function `layout`, or `open`"});
}

}  // namespace

const DatasetRow* RegisteredRow(const DataOptions& options) {
  const DatasetRow* row = options.text_file ? nullptr : FindDataset(options.dataset);
  return row != nullptr && row->is_of_program() ? row : nullptr;
}

bool IsOfProgram(const DatasetDescription& dataset) {
  return std::holds_alternative<RegisteredDataset>(dataset);
}

std::optional<Diagnostic> NameProblem(const DataOptions& options) {
  if (options.text_file || FindDataset(options.dataset) != nullptr) return std::nullopt;
  const std::vector<std::string> missing = MissingParts(options);
  if (missing.empty()) return std::nullopt;
  const std::string suggestion = SuggestName(options.dataset, Datasets().Names());
  return Diagnostic{.where = "data",
                    .required = "'dataset' must be built in (" +
                                JoinWithCommas(Datasets().Names()) +
                                ") or described by all of its files and sizes",
                    .given = Shorten(QuoteToml(options.dataset)) + " is not built in, and " +
                             JoinWithCommas(missing) + " of it are not given",
                    .advice = suggestion.empty() ? "choose one of the two" : suggestion};
}

DatasetDescription DatasetOf(const DataOptions& options) {
  if (const std::optional<Diagnostic> problem = NameProblem(options)) throw ConfigError(*problem);
  if (options.text_file) {
    return DescribeText({.path = *options.text_file,
                         .sequence_length = options.sequence_length,
                         .test_fraction = options.test_fraction});
  }
  if (const DatasetRow* row = RegisteredRow(options)) return Registered(*row, options);
  DatasetInfo info = ImagesOf(options);
  Normalization normalization = {{options.mean}, {options.std}};
  if (options.classes_used) UseClasses(info, *options.classes_used);
  return ImageDataset{std::move(info), std::move(normalization)};
}

DataLayout LayoutOf(const DatasetDescription& dataset) {
  if (const auto* text = std::get_if<TextInfo>(&dataset)) return LayoutOf(*text);
  if (const auto* own = std::get_if<RegisteredDataset>(&dataset)) return own->layout;
  return LayoutOf(std::get<ImageDataset>(dataset).info);
}

bool HasPart(const DatasetDescription& dataset, DatasetPart part) {
  if (part != DatasetPart::kValidation) return true;
  return LayoutOf(dataset).validation_count > 0;
}

PartStorage TakeStorage(Allocator& memory, const DatasetDescription& dataset, DatasetPart part,
                        bool with_inputs) {
  const std::int64_t count = CountOf(LayoutOf(dataset), part);
  const bool own = IsOfProgram(dataset);
  if (count == 0) {
    throw UsageError({.where = "data",
                      .required = "the part of the data that is asked for has samples",
                      .given = "the " + std::string(NameOf(part)) + " part is empty" +
                               (own ? "" : " (test_fraction = 0)"),
                      .advice = (own ? "give it samples" : "set test_fraction above 0") +
                                std::string(", or do not evaluate")});
  }
  if (own) return Tensor();
  if (const auto* text = std::get_if<TextInfo>(&dataset)) {
    return TakeTextStorage(memory, *text, part);
  }
  return TakeImageStorage(memory, std::get<ImageDataset>(dataset).info, count, with_inputs);
}

std::shared_ptr<const DataSource> OpenPart(const DatasetDescription& dataset, DatasetPart part,
                                           PartStorage storage) {
  if (const auto* own = std::get_if<RegisteredDataset>(&dataset)) return OpenRegistered(*own, part);
  if (const auto* text = std::get_if<TextInfo>(&dataset)) {
    return OpenText(*text, part, std::get<Tensor>(std::move(storage)));
  }
  const auto& [info, normalization] = std::get<ImageDataset>(dataset);
  return OpenImages(info, part, std::get<ImageStorage>(std::move(storage)), normalization);
}

}  // namespace frugal
