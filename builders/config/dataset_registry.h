#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "builders/config/types/own_options_field.h"
#include "presets/config/make_field.h"
#include "sdk/data/dataset_registry.h"

namespace frugal {

// The options of data sets that have some of their own.
Registry<OwnFields>& DatasetOptionFields();

// The fields of DataOptions: those of [data], with a table for each data set that has options of
// its own: [data.bars].
const FieldTable& DataFields();

// Throws UsageError where there is no function, where a key of [data] has this name, or where the
// name could not be found.
void RequireUsable(const DatasetRow& row);

// A data set of a program's own, with the fields of its options; see DatasetRow.
template <class Options>
struct OwnDataset {
  std::string name;
  std::string doc = "";
  std::vector<std::string> class_names = {};
  std::vector<Field> fields = {};
  std::function<DataLayout(const Options& options)> layout = nullptr;
  std::function<std::shared_ptr<const DataSource>(const Options& options, DatasetPart part)> open =
      nullptr;
};

// Makes it known by name: to TOML, to the schema, and to messages. To be called before
// configurations are read. Throws UsageError where the name is taken, by a data set or by a key of
// [data]. How the source's memory counts is said at DatasetRow.
//
//   struct BarsOptions { std::int64_t count = 2048; };
//   RegisterDataset<BarsOptions>(
//       {.name = "bars",
//        .fields = {MakeField("count", &BarsOptions::count, "Samples of each part.", {.min = 1})},
//        .layout = [](const BarsOptions& o) { return BarsLayout(o.count); },
//        .open = [](const BarsOptions& o, DatasetPart part) { return OpenBars(o.count, part); }});
//
//   [data]                          builder.Data({.dataset = "bars",
//   dataset = "bars"                              .options = BarsOptions{.count = 512}});
//   bars.count = 512
template <class Options>
const DatasetRow& RegisterDataset(OwnDataset<Options> own) {
  DatasetRow row{.name = own.name,
                 .doc = std::move(own.doc),
                 .class_names = std::move(own.class_names),
                 .options = Options()};
  if (own.layout) {
    row.layout = [layout = std::move(own.layout)](const OwnOptions& options) {
      return layout(*options.As<Options>());
    };
  }
  if (own.open) {
    row.open = [open = std::move(own.open)](const OwnOptions& options, DatasetPart part) {
      return open(*options.As<Options>(), part);
    };
  }
  RequireUsable(row);
  const DatasetRow& added = Datasets().Add(std::move(row));
  DatasetOptionFields().Add({.name = added.name,
                             .defaults = Options(),
                             .fields = MakeFieldTable<Options>(added.name, std::move(own.fields))});
  return added;
}

}  // namespace frugal
