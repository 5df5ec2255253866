#include "sdk/module/network_input.h"

#include <algorithm>

#include "sdk/core/error.h"

namespace frugal {
namespace {

bool IsFree(const NetworkInput& input, std::size_t axis) {
  return std::ranges::find(input.free_axes, axis) != input.free_axes.end();
}

std::int64_t MultipleAt(const NetworkInput& input, std::size_t axis) {
  return axis < input.multiples.size() ? input.multiples[axis] : 1;
}

// "[N, any, any / 2, 4]"
std::string Wanted(const NetworkInput& input) {
  std::string text = "[N";
  for (std::size_t axis = 0; axis < input.shape.rank(); ++axis) {
    if (!IsFree(input, axis)) {
      text += ", " + std::to_string(input.shape[axis]);
    } else if (MultipleAt(input, axis) > 1) {
      text += ", a multiple of " + std::to_string(MultipleAt(input, axis));
    } else {
      text += ", any";
    }
  }
  return text + "]";
}

bool Fits(const NetworkInput& input, const Shape& given, std::int64_t batch) {
  if (given.rank() != input.shape.rank() + 1 || given[0] != batch) return false;
  for (std::size_t axis = 0; axis < input.shape.rank(); ++axis) {
    const std::int64_t extent = given[axis + 1];
    if (!IsFree(input, axis) && extent != input.shape[axis]) return false;
    if (extent < 1 || extent % MultipleAt(input, axis) != 0) return false;
  }
  return true;
}

std::string Names(const NetworkInputs& inputs) {
  std::string text;
  for (const NetworkInput& input : inputs) text += (text.empty() ? "" : ", ") + input.name;
  return text;
}

std::string Place(const std::string& where) { return where.empty() ? "model" : where; }

void CheckCount(const std::string& where, const NetworkInputs& inputs, const VarTuple& vars) {
  if (vars.size() == inputs.size()) return;
  const bool missing = vars.size() < inputs.size();
  throw ShapeError(
      {.where = Place(where),
       .required =
           "the network takes " + std::to_string(inputs.size()) + " inputs (" + Names(inputs) + ")",
       .given = std::to_string(vars.size()) +
                (missing ? "; '" + inputs[vars.size()].name + "' is missing" : " were given"),
       .advice = "give all of them, in this order"});
}

void CheckType(const std::string& where, const NetworkInput& input, const Var& given) {
  const bool labels = given.dtype() == DType::kI64;
  if (labels == (input.role == InputRole::kLabel || input.role == InputRole::kTokens)) return;
  throw ShapeError({.where = Place(where),
                    .required = "input '" + input.name + "' takes " +
                                (labels ? "values" : "class numbers of type i64"),
                    .given = std::string(NameOf(given.dtype())) + " " + ToString(given.shape()),
                    .advice = labels ? "give real numbers" : "give labels"});
}

}  // namespace

DType TypeOf(const NetworkInput& input, DType activations) {
  switch (input.role) {
    case InputRole::kLabel:
    case InputRole::kTokens:
      return DType::kI64;
    case InputRole::kTime:
    case InputRole::kNumbers:
      return MasterType(activations);
    case InputRole::kSample:
    case InputRole::kValues:
      break;
  }
  return activations;
}

Shape BatchShape(const NetworkInput& input, std::int64_t batch) {
  std::vector<std::int64_t> extents = {batch};
  const auto rest = input.shape.extents();
  extents.insert(extents.end(), rest.begin(), rest.end());
  return Shape(extents);
}

void CheckInputs(const std::string& where, const NetworkInputs& inputs, const VarTuple& vars) {
  CheckCount(where, inputs, vars);
  const std::int64_t batch = vars[0].shape().rank() > 0 ? vars[0].shape()[0] : 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CheckType(where, inputs[i], vars[i]);
    if (Fits(inputs[i], vars[i].shape(), batch)) continue;
    throw ShapeError({.where = Place(where),
                      .required = "input '" + inputs[i].name + "' is " + Wanted(inputs[i]) +
                                  " with N = " + std::to_string(batch),
                      .given = ToString(vars[i].shape()),
                      .advice = "change the data, or the model's sizes"});
  }
}

}  // namespace frugal
