#include "builders/config/dataset_registry.h"

#include "builders/config/run_config.h"
#include "presets/config/field_limits.h"

namespace frugal {
namespace {

std::vector<Field> SharedFields() {
  return {MakeField("dataset", &DataOptions::dataset,
                    "A data set that is built in or registered, or a name for the files below."),
          MakeField("text_file", &DataOptions::text_file,
                    "A text, plain or gzipped: its bytes are the data."),
          MakeField("sequence_length", &DataOptions::sequence_length,
                    "Text: bytes of one sample; each is to be told from those before it.",
                    {.min = 1, .max = kMostPerAxis}),
          MakeField("test_fraction", &DataOptions::test_fraction,
                    "Text: share at its end to test on.", {.min = 0, .max = 0.9}),
          MakeField("train_images", &DataOptions::train_images, "IDX file, plain or gzipped."),
          MakeField("train_labels", &DataOptions::train_labels, "IDX file, plain or gzipped."),
          MakeField("test_images", &DataOptions::test_images, "IDX file, plain or gzipped."),
          MakeField("test_labels", &DataOptions::test_labels, "IDX file, plain or gzipped."),
          MakeField("sample_shape", &DataOptions::sample_shape, "[height, width, channels].",
                    {.min = 1, .max = kMostPerAxis, .min_items = 3, .max_items = 3}),
          MakeField("train_count", &DataOptions::train_count, "Images in the training file.",
                    {.min = 1, .max = kMostSamples}),
          MakeField("test_count", &DataOptions::test_count, "Images in the test file.",
                    {.min = 1, .max = kMostSamples}),
          MakeField("classes", &DataOptions::classes, "Number of classes.", {.min = 1, .max = 256}),
          MakeField("classes_used", &DataOptions::classes_used,
                    "Use only these classes, labelled 0, 1, ... in this order.",
                    {.min = 0, .max = 255, .min_items = 1, .max_items = 256}),
          MakeField("mean", &DataOptions::mean, "Subtracted from pixel values in [0, 1]."),
          MakeField("std", &DataOptions::std, "What is left is divided by this.",
                    {.min = 0, .min_exclusive = true, .formerly = "deviation"}),
          MakeField("train_limit", &DataOptions::train_limit,
                    "Use only the first so many training samples.", {.min = 1}),
          MakeField("test_limit", &DataOptions::test_limit,
                    "Use only the first so many test samples.", {.min = 1}),
          MakeField("validation_fraction", &DataOptions::validation_fraction,
                    "Share at the end of the training samples that evaluations look at instead.",
                    {.min = 0, .max = 0.9}),
          MakeField("shuffle", &DataOptions::shuffle, "A new order in every epoch.")};
}

FieldTable MakeFields() {
  std::vector<Field> fields = SharedFields();
  for (const OwnFields* own : DatasetOptionFields().Rows()) {
    fields.push_back(OwnOptionsField<DataOptions>(
        *own, &DataOptions::options, [name = own->name](const DataOptions& options) {
          const DatasetRow* row = FindDataset(options.dataset);
          return !options.text_file && row != nullptr && row->name == name;
        }));
  }
  return MakeFieldTable<DataOptions>("data", std::move(fields));
}

}  // namespace

Registry<OwnFields>& DatasetOptionFields() {
  static Registry<OwnFields> rows("data set", {});
  return rows;
}

const FieldTable& DataFields() {
  static GrowingFields fields(MakeFields);
  return fields.At(DatasetOptionFields().Rows().size());
}

void RequireUsable(const DatasetRow& row) {
  RequireFunctions(row);
  RequireTableName(row.name, SharedFields(), {"RegisterDataset", "data"});
}

}  // namespace frugal
