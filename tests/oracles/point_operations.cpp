#include <limits>

#include "sdk/ops/pointwise.h"
#include "tests/oracles/operation_table.h"

namespace frugal::oracles {
namespace {

template <Var (*function)(Context&, const Var&)>
Var RunPoint(OracleRun& run) {
  return function(run.context(), run.Input("input"));
}

Var RunPow(OracleRun& run) {
  return Pow(run.context(), run.Input("input"), run.attributes().at("exponent"));
}

Var RunClamp(OracleRun& run) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return Clamp(run.context(), run.Input("input"), run.attributes().value("min", -kInfinity),
               run.attributes().value("max", kInfinity));
}

Var RunAddScalar(OracleRun& run) {
  return AddScalar(run.context(), run.Input("input"), run.attributes().at("value"));
}

Var RunWhere(OracleRun& run) {
  const Var condition = Fixed(run.Constant("condition"));
  const Var a = run.Input("a");
  return Where(run.context(), condition, a, run.Input("b"));
}

}  // namespace

OperationTable PointOperations() {
  return {{"log", RunPoint<Log>}, {"sqrt", RunPoint<Sqrt>}, {"abs", RunPoint<Abs>},
          {"pow", RunPow},        {"clamp", RunClamp},      {"add_scalar", RunAddScalar},
          {"where", RunWhere}};
}

}  // namespace frugal::oracles
