#include "builders/reference/kind_docs.h"

#include "sdk/optim/optimizer_registry.h"
#include "sdk/optim/schedule_registry.h"
#include "sdk/train/loss_registry.h"

namespace frugal {
namespace {

template <class Row>
std::string_view DocIn(const Registry<Row>& rows, std::string_view kind) {
  const Row* row = rows.Find(kind);
  return row == nullptr ? "" : std::string_view(row->doc);
}

}  // namespace

std::string_view DocOfKind(std::string_view section, std::string_view kind) {
  if (section == "optimizer") return DocIn(Optimizers(), kind);
  if (section == "loss") return DocIn(Losses(), kind);
  return section == "schedule" ? DocIn(Schedules(), kind) : "";
}

}  // namespace frugal
