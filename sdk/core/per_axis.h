#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace frugal {

// Numbers over spatial axes, outermost first: one for all of them, `3`, or one for each, `{3, 5}`.
// Empty where nothing was said.
class PerAxis {
 public:
  PerAxis() = default;
  PerAxis(std::int64_t for_all)
      : numbers_{for_all} {}  // NOLINT(google-explicit-constructor): `= 3`
  PerAxis(std::initializer_list<std::int64_t> for_each) : numbers_(for_each) {}
  explicit PerAxis(std::vector<std::int64_t> for_each) : numbers_(std::move(for_each)) {}

  bool empty() const { return numbers_.empty(); }
  std::size_t size() const { return numbers_.size(); }
  std::int64_t front() const { return numbers_.front(); }
  std::int64_t operator[](std::size_t axis) const { return numbers_[axis]; }
  auto begin() const { return numbers_.begin(); }
  auto end() const { return numbers_.end(); }
  const std::vector<std::int64_t>& numbers() const { return numbers_; }

  bool operator==(const PerAxis& other) const = default;

 private:
  std::vector<std::int64_t> numbers_;
};

}  // namespace frugal
