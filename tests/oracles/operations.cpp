#include "tests/oracles/operations.h"

#include "sdk/core/error.h"
#include "tests/oracles/operation_table.h"

namespace frugal::oracles {
namespace {

OperationTable AllOperations() {
  OperationTable all = LayerOperations();
  all.merge(LossOperations());
  all.merge(WindowOperations());
  all.merge(ArrayOperations());
  all.merge(SequenceOperations());
  all.merge(PointOperations());
  all.merge(RowLossOperations());
  return all;
}

}  // namespace

OracleRun::Function FindOperation(const std::string& operation) {
  static const OperationTable operations = AllOperations();
  const auto found = operations.find(operation);
  return found == operations.end() ? nullptr : found->second;
}

void RefuseAttribute(const OracleRun& run, const std::string& required) {
  throw DataError({.where = run.name(),
                   .required = required,
                   .given = "the attributes are " + run.attributes().dump(),
                   .advice = "leave this case out"});
}

}  // namespace frugal::oracles
