#pragma once

#include "sdk/memory/ledger.h"
#include "sdk/module/parameter.h"

namespace frugal {

// Memory taken in this scope is held in the parameter's name.
class NameScope {
 public:
  NameScope(MemoryLedger& ledger, const Parameter& parameter)
      : ledger_(ledger), previous_(ledger_.label()) {
    ledger_.SetLabel(ledger_.labels().Intern(parameter.path));
  }
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
  ~NameScope() { ledger_.SetLabel(previous_); }

 private:
  MemoryLedger& ledger_;
  LabelTable::Id previous_;
};

}  // namespace frugal
