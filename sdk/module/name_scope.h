#pragma once

#include "sdk/memory/ledger.h"

namespace frugal {

// Memory taken in this scope is held in a parameter's name.
class NameScope {
 public:
  NameScope(MemoryLedger& ledger, LabelTable::Id name)
      : ledger_(ledger), previous_(ledger.label()) {
    ledger_.SetLabel(name);
  }
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
  ~NameScope() { ledger_.SetLabel(previous_); }

 private:
  MemoryLedger& ledger_;
  LabelTable::Id previous_;
};

}  // namespace frugal
