#include "sdk/data/dataset_registry.h"

#include <algorithm>

#include "sdk/core/error.h"

namespace frugal {

Registry<DatasetRow>& Datasets() {
  static Registry<DatasetRow> rows("data set",
                                   {{.name = "fashion-mnist",
                                     .doc = "Clothes of 10 classes, 28 x 28, 60,000 to train on "
                                            "and 10,000 to test on (arXiv:1708.07747).",
                                     .images = FashionMnist()}});
  return rows;
}

void RequireFunctions(const DatasetRow& row) {
  if (!row.is_of_program() || (row.layout && row.open)) return;
  throw UsageError({.where = "data set " + row.name,
                    .required = "a data set has the functions `layout` and `open`, or images",
                    .given = std::string("it has no `") + (row.layout ? "open`" : "layout`"),
                    .advice = "give it one"});
}

const DatasetRow* FindDataset(std::string_view name) {
  if (const DatasetRow* row = Datasets().Find(name)) return row;
  std::string plain(name);
  std::ranges::replace(plain, '_', '-');
  return Datasets().Find(plain);
}

std::optional<DatasetInfo> NamedDataset(std::string_view name) {
  const DatasetRow* row = FindDataset(name);
  return row == nullptr ? std::nullopt : row->images;
}

}  // namespace frugal
