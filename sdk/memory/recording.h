#pragma once

#include "sdk/memory/ledger.h"

namespace frugal {

// Records a ledger's traffic into a trace until the end of the scope. Declare it behind the trace
// and before whatever is to be recorded.
class RecordingScope {
 public:
  RecordingScope(MemoryLedger& ledger, MemoryTrace& trace) : ledger_(ledger) {
    ledger_.RecordInto(&trace);
  }
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;
  ~RecordingScope() { ledger_.RecordInto(nullptr); }

 private:
  MemoryLedger& ledger_;
};

}  // namespace frugal
