#include "sdk/train/stage_channel.h"

#include <utility>

namespace frugal {

void StageChannel::Send(std::size_t place, Tensor tensor, int to) {
  Sent& sent = sent_[place];
  Finish(sent);
  sent.tensor = std::move(tensor);
  context_.Launch({OperationKind::kCommunication, sent.tensor.bytes()}, [&](Backend&, void*) {
    sent.pending = pipeline_->StartSend(BufferOf(sent.tensor), to, what_);
  });
}

void StageChannel::Receive(const Tensor& tensor, int from) {
  context_.Launch({OperationKind::kCommunication, tensor.bytes()},
                  [&](Backend&, void*) { pipeline_->Receive(BufferOf(tensor), from, what_); });
}

void StageChannel::Finish(Sent& sent) {
  if (sent.pending != nullptr) {
    context_.Launch({OperationKind::kCommunication, 0},
                    [&](Backend&, void*) { sent.pending->Wait(); });
    sent.pending.reset();
  }
  sent.tensor = Tensor();
}

void StageChannel::Drain() {
  for (auto& [place, sent] : sent_) Finish(sent);
  sent_.clear();
}

}  // namespace frugal
