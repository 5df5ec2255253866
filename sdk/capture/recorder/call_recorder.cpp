#include "sdk/capture/recorder/call_recorder.h"

#include "sdk/autograd/context.h"

namespace frugal {

bool CallRecorder::records() const { return context_ != nullptr && context_->training(); }

CallPlace CallRecorder::Place() const {
  const MemoryLedger& ledger = context_->ledger();
  return {.step = context_->step(),
          .micro_batch = context_->micro_batch(),
          .path = ledger.labels().NameOf(ledger.label()),
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
