#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/core/error.h"

namespace frugal {

// All rows of one kind of thing, ours and those that programs add. A row has a `name`, which is
// what files call it. Rows stay where they are, so pointers to them may be kept. Threads: any
// may use it at any time; what is added serves configurations that are read afterwards.
template <class Row>
class Registry {
 public:
  // `kind` is what errors call a row: "layer type".
  Registry(std::string kind, std::vector<Row> rows) : kind_(std::move(kind)) {
    for (Row& row : rows) Add(std::move(row));
  }

  // Throws UsageError where the name is empty or taken.
  const Row& Add(Row row) {
    const std::scoped_lock lock(mutex_);
    const std::string name(row.name);
    if (name.empty() || Look(name) != nullptr) {
      throw UsageError(
          {.where = "Register",
           .required = "every " + kind_ + " has a name of its own",
           .given = name.empty() ? "one has none" : "there is one called \"" + name + "\" already",
           .advice = "give it another name"});
    }
    return rows_.emplace_back(std::move(row));
  }

  // Returns null where there is none of that name.
  const Row* Find(std::string_view name) const {
    const std::scoped_lock lock(mutex_);
    return Look(name);
  }

  // Returns all of them, in the order in which they came.
  std::vector<const Row*> Rows() const {
    const std::scoped_lock lock(mutex_);
    std::vector<const Row*> rows;
    for (const Row& row : rows_) rows.push_back(&row);
    return rows;
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const Row* row : Rows()) names.emplace_back(row->name);
    return names;
  }

 private:
  const Row* Look(std::string_view name) const {
    for (const Row& row : rows_) {
      if (row.name == name) return &row;
    }
    return nullptr;
  }

  std::string kind_;
  mutable std::mutex mutex_;
  std::deque<Row> rows_;
};

}  // namespace frugal
