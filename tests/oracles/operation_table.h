#pragma once

#include <map>
#include <string>

#include "tests/oracles/oracle_run.h"

// How operations are computed, by their names in the index, in parts.
namespace frugal::oracles {

using OperationTable = std::map<std::string, OracleRun::Function>;

inline constexpr AxisOrder kImage = AxisOrder::kChannelsFirst;

OperationTable LayerOperations();     // linear, norms, activations
OperationTable LossOperations();      // losses, softmax
OperationTable WindowOperations();    // convolutions, pools, upsampling
OperationTable ArrayOperations();     // products, arithmetic, sums, boxes
OperationTable PointOperations();     // functions of each element, choices
OperationTable RowLossOperations();   // losses by name, with weights
OperationTable SequenceOperations();  // attention, embedding, recurrent layers

// A value that gets no gradient.
inline Var Fixed(Tensor value) { return {std::move(value), Var::kNoGradient}; }

// Throws a DataError: what the case asks for is more than the operation does.
[[noreturn]] void RefuseAttribute(const OracleRun& run, const std::string& required);

}  // namespace frugal::oracles
