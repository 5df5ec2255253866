#pragma once

#include <cstdint>
#include <string>

#include "sdk/capture/calls/call.h"

namespace frugal {

class Context;

// Says where in a training a call was made.
struct CallPlace {
  std::int64_t step = 0;         // from 0
  std::int64_t micro_batch = 0;  // part of the batch
  std::string path;              // of the layer, or what else the memory's label says
  bool backward = false;
  bool recomputed = false;  // in a checkpointed segment that runs again
};

// Is handed each call of a kernel, before it runs and behind it.
class CallSink {
 public:
  virtual ~CallSink() = default;
  // Returns false for a call that the other two need not see.
  virtual bool Wants(const Call& call, const CallPlace& place) = 0;
  virtual void Before(Call& call, const CallPlace& place) = 0;
  virtual void After(Call& call, const CallPlace& place) = 0;
};

// Runs calls on a backend and shows a sink those of training steps.
class CallRecorder {
 public:
  CallRecorder(Backend& backend, CallSink& sink) : backend_(backend), sink_(sink) {}

  // Says in what steps run; null, as in the beginning: nothing is shown to the sink.
  void SetContext(const Context* context) { context_ = context; }
  bool records() const;
  void Record(Call& call, void* scratch);

 private:
  CallPlace Place() const;

  Backend& backend_;
  CallSink& sink_;
  const Context* context_ = nullptr;
};

}  // namespace frugal
