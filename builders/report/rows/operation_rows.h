#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builders/execute/training_result.h"

namespace frugal {

// A line of the table of operations, as means of a step. What cannot be said is 0: rates of kinds
// that do no products or move nothing, shares of limits that were not measured.
struct OperationRow {
  std::string name;  // "matmul", "matmul, backward", "outside kernels"
  double calls = 0;
  double milliseconds = 0;
  double share = 0;  // of the step's time
  double gflops = 0;
  double product_share = 0;  // of the machine's best product
  double gbytes = 0;         // per second, of what must at least be read and written
  double copy_share = 0;     // of the machine's best copy
};

// A column of the table, wherever it is shown.
struct OperationColumn {
  std::string title;
  bool is_number = false;
  std::string (*cell)(const OperationRow& row) = nullptr;
  bool is_share = false;  // OperationRow::share, which HTML shows as a bar as well
};
const std::vector<OperationColumn>& OperationColumns();

// Kinds by falling time, then what a step spends outside kernels, then the step itself.
std::vector<OperationRow> OperationRows(const OperationProfile& profile);

// Returns the roofline of a step: the seconds that it would take with every kind of operation at
// the limit that is nearer to it (products or copy), none slower than it ran, and nothing outside
// kernels. Returns nothing where limits were not measured.
std::optional<double> SecondsAtLimits(const OperationProfile& profile);

}  // namespace frugal
