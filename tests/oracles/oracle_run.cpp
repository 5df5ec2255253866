#include "tests/oracles/oracle_run.h"

#include <cmath>
#include <limits>
#include <utility>

#include "tests/support/tensors.h"

namespace frugal::oracles {

OracleRun::OracleRun(testing::TestEnvironment& environment, const OracleCase& one, Poison poison)
    : environment_(environment), case_(one), poison_(std::move(poison)), file_(one) {}

Numbers OracleRun::Read(const std::string& name, AxisOrder order) const {
  Numbers stored = {file_.ShapeOf(name), file_.Read(name)};
  if (name == poison_.input) stored.values[poison_.element] = poison_.value;
  const bool has_positions = stored.shape.rank() > 2;  // else both orders are the same
  return order == AxisOrder::kChannelsFirst && has_positions ? ToChannelsLast(stored) : stored;
}

// Scalars are [1] here and [] in the files.
Tensor OracleRun::ToTensor(const Numbers& numbers, DType dtype) const {
  const Shape shape = numbers.shape.rank() == 0 ? Shape{1} : numbers.shape;
  return testing::MakeTensor(shape, numbers.values, dtype);
}

Var OracleRun::Input(const std::string& name, AxisOrder order) {
  if (order == AxisOrder::kChannelsFirst) order_ = order;
  const int slot = tape_.NewSlot();
  slots_[name] = slot;
  return {ToTensor(Read("in/" + name, order), environment_.dtype()), slot};
}

Tensor OracleRun::Constant(const std::string& name) {
  const std::string full = "in/" + name;
  constants_.insert(name);
  if (!file_.IsInteger(full))
    return ToTensor(Read(full, AxisOrder::kAsStored), MasterType(environment_.dtype()));
  return testing::MakeTensor(file_.ShapeOf(full), file_.ReadIntegers(full), DType::kI64);
}

Parameter& OracleRun::AddParameter(const std::string& name, const Shape& shape) {
  Parameter parameter;
  parameter.name = name;
  parameter.path = name;
  parameter.shape = shape;
  parameter.index = parameters_.size();
  parameters_.push_back(parameter);
  return parameters_.back();
}

const Parameter& OracleRun::Weight(const std::string& name) {
  const Parameter& parameter = AddParameter(name, file_.ShapeOf("in/" + name));
  FillFromFile(parameter);
  return parameter;
}

void OracleRun::FillFromFile(const Parameter& parameter) {
  const Tensor stored = ToTensor(Read("in/" + parameter.name, AxisOrder::kAsStored),
                                 MasterType(environment_.dtype()));
  environment_.backend().elementwise().Copy(stored, environment_.store().Value(parameter));
}

const Parameter* OracleRun::WeightIfThere(const std::string& name) {
  return Has(name) ? &Weight(name) : nullptr;
}

const Parameter& OracleRun::Buffer(const std::string& name, std::int64_t size, double value) {
  Parameter& parameter = AddParameter(name, {size});
  parameter.initializer = Initializer::Constant(value);
  parameter.trainable = false;
  constants_.insert(name);
  if (Has(name)) FillFromFile(parameter);
  return parameter;
}

double OracleRun::ErrorOf(const Tensor& computed, const std::string& name, AxisOrder order) const {
  if (!computed) return std::numeric_limits<double>::infinity();
  const Numbers expected = Read(name, order);
  const bool is_scalar = expected.shape.rank() == 0 && computed.shape() == Shape{1};
  if (!is_scalar && !(expected.shape == computed.shape())) {
    return std::numeric_limits<double>::infinity();
  }
  return testing::RelativeError(computed, expected.values);
}

double OracleRun::GradientError(const Tensor& computed, const std::string& name,
                                AxisOrder order) const {
  constexpr double kZeroShare = 1e-6;
  const auto norm_of = [this](const std::string& input) {
    double squares = 0;
    for (const double value : file_.Read("grad/" + input)) squares += value * value;
    return std::sqrt(squares);
  };
  const double error = ErrorOf(computed, "grad/" + name, order);
  if (!computed || !file_.Has("grad/" + name)) return error;
  double total = 0;
  for (const std::string& input : file_.Gradients()) total = std::hypot(total, norm_of(input));
  const Numbers expected = Read("grad/" + name, order);
  if (norm_of(name) >= kZeroShare * total || !(expected.shape == computed.shape())) return error;
  const std::vector<double> values = testing::Values(computed);
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    distance = std::hypot(distance, values[i] - expected.values[i]);
  }
  return total > 0 ? distance / total : distance;
}

Var OracleRun::RunBothWays(Function function) {
  const TapeScope scope(context(), &tape_);
  Var output = function(*this);
  tape_.Backward(context(), output.slot, ToTensor(Read("upstream", order_), output.dtype()));
  return output;
}

template <class Take>
void OracleRun::ForEachGradient(const Take& take) {
  for (const auto& [name, slot] : slots_) take(name, tape_.TakeGradient(slot), order_);
  for (const Parameter& parameter : parameters_) {
    if (!parameter.trainable) continue;
    take(parameter.name, environment_.store().Gradient(parameter), AxisOrder::kAsStored);
  }
}

std::map<std::string, double> OracleRun::Errors(Function function) {
  std::map<std::string, double> errors;
  const Var output = RunBothWays(function);  // which finds out the order of the case
  errors["out"] = ErrorOf(output.value, "out", order_);
  ForEachGradient([&](const std::string& name, const Tensor& gradient, AxisOrder order) {
    errors["grad/" + name] = GradientError(gradient, name, order);
  });
  AddMissing(errors);
  return errors;
}

std::map<std::string, std::vector<double>> OracleRun::Results(Function function) {
  std::map<std::string, std::vector<double>> results;
  results["out"] = testing::Values(RunBothWays(function).value);
  ForEachGradient([&](const std::string& name, const Tensor& gradient, AxisOrder) {
    if (gradient) results["grad/" + name] = testing::Values(gradient);
  });
  return results;
}

void OracleRun::AddMissing(std::map<std::string, double>& errors) {
  for (const std::string& name : file_.Gradients()) {
    if (errors.contains("grad/" + name)) continue;
    if (constants_.contains(name)) {
      not_differentiated_.push_back(name);
    } else {
      errors["grad/" + name] = std::numeric_limits<double>::infinity();
    }
  }
}

}  // namespace frugal::oracles
