#include "tests/oracles/attribute_text.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "sdk/core/error.h"

namespace frugal::oracles {
namespace {

[[noreturn]] void Refuse(const std::string& required, const std::string& given) {
  throw DataError({.where = "attributes",
                   .required = required,
                   .given = "here stands " + given,
                   .advice = "write it in that form"});
}

std::string Trim(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(Trim(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

std::int64_t Number(const std::string& text, const std::string& whole) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    Refuse("a whole number stands in each place", "'" + whole + "'");
  }
  return value;
}

// Sets the ends of one axis. `steps_back` counts from the last axis.
void SetPads(Pads& pads, std::size_t steps_back, std::int64_t before, std::int64_t after) {
  const std::size_t rank = pads.before.size();
  if (steps_back >= rank) Refuse("pads name axes of the tensor", "one axis too many");
  if (before < 0 || after < 0) Refuse("pads are at least 0", "a negative one");
  pads.before[rank - 1 - steps_back] = before;
  pads.after[rank - 1 - steps_back] = after;
}

// "last axis 1,2": the words say which axis, counted from the last one.
void ParsePadClause(const std::string& clause, std::size_t expected, Pads& pads) {
  constexpr const char* kForm = "pads are as in 'last axis 1,2; the one before 0,3'";
  const std::size_t digits = clause.find_first_of("-0123456789");
  const std::string words = Trim(clause.substr(0, std::min(digits, clause.size())));
  const bool fits = expected == 0 ? words == "last axis" || words == "the last axis"
                                  : words == "the one before" || words == "the one before that";
  if (!fits || digits == std::string::npos) Refuse(kForm, "'" + clause + "'");
  const std::vector<std::string> ends = Split(clause.substr(digits), ',');
  if (ends.size() != 2) Refuse(kForm, "'" + clause + "'");
  SetPads(pads, expected, Number(ends[0], clause), Number(ends[1], clause));
}

std::optional<std::int64_t> OptionalNumber(const std::vector<std::string>& parts, std::size_t index,
                                           const std::string& whole) {
  if (index >= parts.size() || parts[index].empty()) return std::nullopt;
  return Number(parts[index], whole);
}

void ParseSlice(const std::string& item, std::int64_t axis, std::int64_t extent, Slices& slices) {
  const std::vector<std::string> parts = Split(item, ':');
  if (parts.size() > 3) Refuse("a slice is begin:end:step", "'" + item + "'");
  if (parts.size() == 1) {
    const std::int64_t index = Number(item, item);
    const std::int64_t begin = index < 0 ? index + extent : index;
    if (begin < 0 || begin >= extent) Refuse("an index lies within its axis", "'" + item + "'");
    slices.ranges.push_back({.axis = axis, .begin = begin, .end = begin + 1});
    slices.vanishing.push_back(axis);
    return;
  }
  slices.ranges.push_back({.axis = axis,
                           .begin = OptionalNumber(parts, 0, item).value_or(0),
                           .end = OptionalNumber(parts, 1, item).value_or(extent),
                           .step = OptionalNumber(parts, 2, item).value_or(1)});
}

}  // namespace

Spatial SpatialAttribute(const nlohmann::json& attributes, const std::string& name,
                         std::size_t rank, std::int64_t unused, const nlohmann::json& fallback) {
  const nlohmann::json& given = attributes.contains(name) ? attributes.at(name) : fallback;
  const bool list = given.is_array();
  const auto is_number = [](const nlohmann::json& value) { return value.is_number_integer(); };
  if (list ? given.size() != rank || !std::all_of(given.begin(), given.end(), is_number)
           : !is_number(given)) {
    Refuse(
        name + " is a whole number or a list of one for each of " + std::to_string(rank) + " axes",
        given.dump());
  }
  Spatial result{unused, unused, unused};
  for (std::size_t i = 0; i < rank; ++i) {
    result[3 - rank + i] = (list ? given.at(i) : given).get<std::int64_t>();
  }
  return result;
}

std::vector<std::int64_t> AxesAttribute(const nlohmann::json& attributes, std::size_t rank) {
  std::vector<std::int64_t> axes;
  if (attributes.contains("axes") && attributes.at("axes").is_array()) {
    axes = attributes.at("axes").get<std::vector<std::int64_t>>();
  } else if (attributes.contains("axes")) {
    axes = {attributes.at("axes").get<std::int64_t>()};
  } else if (attributes.contains("axis")) {
    axes = {attributes.at("axis").get<std::int64_t>()};
  } else {
    for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  }
  for (std::int64_t& axis : axes) {
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) {
      Refuse("axes lie within the tensor's rank, " + std::to_string(rank), attributes.dump());
    }
  }
  return axes;
}

Pads ParsePads(const nlohmann::json& given, std::size_t rank) {
  Pads pads{std::vector<std::int64_t>(rank, 0), std::vector<std::int64_t>(rank, 0)};
  if (given.is_array()) {
    const auto numbers = given.get<std::vector<std::int64_t>>();
    if (numbers.size() % 2 != 0) Refuse("pads come in pairs", given.dump());
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
      SetPads(pads, i / 2, numbers[i], numbers[i + 1]);
    }
    return pads;
  }
  const std::vector<std::string> clauses = Split(given.get<std::string>(), ';');
  for (std::size_t i = 0; i < clauses.size(); ++i) ParsePadClause(clauses[i], i, pads);
  return pads;
}

Slices ParseSlices(const std::string& text, const Shape& shape) {
  Slices slices;
  const std::vector<std::string> items = Split(text, ',');
  const auto dots = std::count(items.begin(), items.end(), "...");
  const std::size_t named = items.size() - static_cast<std::size_t>(dots);
  if (dots > 1 || named > shape.rank()) {
    Refuse("slices name at most the axes of " + ToString(shape), "'" + text + "'");
  }
  std::size_t axis = 0;
  for (const std::string& item : items) {
    if (item == "...") {
      axis += shape.rank() - named;
      continue;
    }
    ParseSlice(item, static_cast<std::int64_t>(axis), shape[axis], slices);
    ++axis;
  }
  return slices;
}

}  // namespace frugal::oracles
