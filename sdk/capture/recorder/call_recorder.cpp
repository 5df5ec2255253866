#include "sdk/capture/recorder/call_recorder.h"

#include <utility>

#include "sdk/autograd/context.h"

namespace frugal {

bool CallRecorder::records() const { return context_ != nullptr && context_->training(); }

CallPlace CallRecorder::Place() const {
  const MemoryLedger& ledger = context_->ledger();
  std::string path = ledger.labels().NameOf(ledger.label());
  if (path == "other") path.clear();  // the ledger's name for no label
  return {.step = context_->step(),
          .micro_batch = context_->micro_batch(),
          .path = std::move(path),
          .backward = context_->in_backward(),
          .recomputed = context_->recomputing()};
}

void CallRecorder::Record(Call& call, void* scratch) {
  if (records()) {
    const CallPlace place = Place();
    if (sink_.Wants(call, place)) {
      sink_.Before(call, place);
      call.Run(backend_, scratch);
      sink_.After(call, place);
      return;
    }
  }
  call.Run(backend_, scratch);
}

}  // namespace frugal
