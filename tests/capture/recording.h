#pragma once

#include <memory>
#include <string>

#include "sdk/autograd/context.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/recorder/capturing_backend.h"
#include "sdk/capture/store/capture_writer.h"
#include "tests/support/tensors.h"

namespace frugal::testing {

// Records calls as a training step would.
class Recording {
 public:
  explicit Recording(const std::string& directory, BackendKind kind = BackendKind::kOneDnn)
      : writer_(directory, Header(kind), {}), backend_(MakeBackend(kind)) {}

  void Record(Call& call) {
    call.Prepare(*backend_, Heap());
    const Tensor scratch = ScratchOf(call.Scratch(*backend_));
    writer_.Before(call, {.path = "layer"});
    call.Run(*backend_, scratch.raw());
    writer_.After(call, {.path = "layer"});
  }
  const CaptureWriter& writer() const { return writer_; }

  static CaptureHeader Header(BackendKind kind) {
    return {.version = "0.1.0",
            .backend = std::string(NameOf(kind)),
            .precision = "f32",
            .threads = 2,
            .instruction_set = "any",
            .configuration_hash = "0123456789abcdef",
            .configuration = "test",
            .seed = 7};
  }

 private:
  CaptureWriter writer_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace frugal::testing
