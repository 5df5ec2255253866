#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sdk/module/parameter.h"
#include "tests/oracles/axis_order.h"
#include "tests/oracles/oracle_case.h"
#include "tests/support/test_environment.h"

namespace frugal::oracles {

// One element of one input that is read as another value than the file's: "upstream" is the
// gradient of the output.
struct Poison {
  std::string input;
  std::size_t element = 0;  // counted in the order of the file
  double value = 0;
};

// Runs one case: the operation's function asks for its inputs by name, as leaves or parameters, and
// gives its output; what it asked for is what gets compared.
class OracleRun {
 public:
  OracleRun(testing::TestEnvironment& environment, const OracleCase& one, Poison poison = {});

  Context& context() { return environment_.context(); }
  std::string name() const { return case_.Name(); }
  const nlohmann::json& attributes() const { return case_.attributes; }
  const std::vector<std::string>& inputs() const { return case_.inputs; }
  bool Has(const std::string& input) const { return file_.Has("in/" + input); }

  bool IsBoolean(const std::string& input) const { return file_.IsBoolean("in/" + input); }

  // A leaf that gets a gradient. Images come channels last; so are the output and all gradients of
  // the case taken then.
  Var Input(const std::string& name, AxisOrder order = AxisOrder::kAsStored);
  // Labels, or values that get no gradient.
  Tensor Constant(const std::string& name);
  const Parameter& Weight(const std::string& name);
  const Parameter* WeightIfThere(const std::string& name);
  // Returns a parameter that is not trained: from the file, or full of one value where the case
  // does not have it.
  const Parameter& Buffer(const std::string& name, std::int64_t size, double value);

  // Relative errors by name: "out", "grad/input", ... Infinite for a gradient that the file has and
  // nothing computed, except those of constants, which NotDifferentiated lists.
  using Function = Var (*)(OracleRun&);
  std::map<std::string, double> Errors(Function function);
  // The values themselves under the same names, channels last where the case has images.
  std::map<std::string, std::vector<double>> Results(Function function);
  const std::vector<std::string>& NotDifferentiated() const { return not_differentiated_; }

 private:
  // Runs `function` and back: its output.
  Var RunBothWays(Function function);
  // Calls `take(name, gradient, order)` for each gradient that arrived or should have.
  template <class Take>
  void ForEachGradient(const Take& take);
  Numbers Read(const std::string& name, AxisOrder order) const;
  Tensor ToTensor(const Numbers& numbers, DType dtype) const;
  double ErrorOf(const Tensor& computed, const std::string& name, AxisOrder order) const;
  // As ErrorOf; one that is zero but for rounding is measured against all of the case together.
  double GradientError(const Tensor& computed, const std::string& name, AxisOrder order) const;
  Parameter& AddParameter(const std::string& name, const Shape& shape);
  void FillFromFile(const Parameter& parameter);
  void AddMissing(std::map<std::string, double>& errors);

  testing::TestEnvironment& environment_;
  const OracleCase& case_;
  Poison poison_;
  CaseFile file_;
  AxisOrder order_ = AxisOrder::kAsStored;  // of the output
  Tape tape_;
  std::deque<Parameter> parameters_;  // addresses stay
  std::map<std::string, int> slots_;
  std::set<std::string> constants_;
  std::vector<std::string> not_differentiated_;
};

}  // namespace frugal::oracles
