#pragma once

#include <map>
#include <memory>
#include <string>

#include "sdk/autograd/context.h"
#include "sdk/comm/communicator.h"

namespace frugal {

// Tensors of one kind on their way between neighbours of a pipeline. A tensor that is sent is held
// until the next one in its place is, or until the end: so the memory that is in flight is known
// before, however fast the neighbour is.
class StageChannel {
 public:
  // Dry, `pipeline` is null and nothing moves.
  StageChannel(Context& context, Communicator* pipeline, std::string what)
      : context_(context), pipeline_(pipeline), what_(std::move(what)) {}
  StageChannel(const StageChannel&) = delete;
  StageChannel& operator=(const StageChannel&) = delete;

  // Sends a tensor in place number `place` of the tuple.
  void Send(std::size_t place, Tensor tensor, int to);
  void Receive(const Tensor& tensor, int from);
  // Waits for everything that was sent.
  void Drain();

 private:
  struct Sent {
    Tensor tensor;
    std::unique_ptr<PendingSend> pending;  // dies first
  };
  void Finish(Sent& sent);

  Context& context_;
  Communicator* pipeline_;
  std::string what_;
  std::map<std::size_t, Sent> sent_;  // by place
};

}  // namespace frugal
