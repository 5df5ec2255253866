#include "sdk/comm/communicator.h"

#include <algorithm>
#include <string>

#include "sdk/core/error.h"

namespace frugal {
namespace {

void CheckReducible(const CommBuffer& buffer, std::string_view operation, std::string_view what) {
  if (buffer.dtype == DType::kF32 || buffer.dtype == DType::kF64 || buffer.dtype == DType::kBF16) {
    return;
  }
  throw UsageError({.where = std::string(operation) + " of " + std::string(what),
                    .required = "sums are taken of f32, f64 or bf16",
                    .given = "the buffer holds " + std::string(NameOf(buffer.dtype)),
                    .advice = "convert it first"});
}

class FinishedSum final : public PendingSum {
 public:
  bool Progress() override { return true; }
  void Wait() override {}
};

// Nothing moves in a group of one rank, and there is nobody to send to.
class SelfCommunicator final : public Communicator {
 public:
  SelfCommunicator() : Communicator(0, 1) {}

 private:
  void DoAllReduce(const CommBuffer&, std::string_view) override {}
  std::unique_ptr<PendingSum> DoStartSum(const CommBuffer&, std::optional<int>,
                                         std::string_view) override {
    return std::make_unique<FinishedSum>();
  }
  void DoReduceScatter(const CommBuffer&, std::string_view) override {}
  void DoAllGather(const CommBuffer&, std::string_view) override {}
  void DoBroadcast(const CommBuffer&, int, std::string_view) override {}
  void DoBarrier(std::string_view) override {}
  std::unique_ptr<PendingSend> DoStartSend(const CommBuffer&, int, std::string_view) override {
    return nullptr;
  }
  void DoReceive(const CommBuffer&, int, std::string_view) override {}
  void DoExchange(const CommBuffer&, int, const CommBuffer&, int, std::string_view) override {}
  std::unique_ptr<Communicator> DoSplit(int, std::string_view) override {
    return std::make_unique<SelfCommunicator>();
  }
};

}  // namespace

CommBuffer BufferOf(const Tensor& tensor) {
  return {.data = tensor.raw(), .count = tensor.size(), .dtype = tensor.dtype()};
}

void Communicator::AllReduce(const CommBuffer& buffer, std::string_view what) {
  CheckReducible(buffer, "all-reduce", what);
  traffic_ += AllReduceTraffic(buffer.count, buffer.dtype, size_, rank_);
  DoAllReduce(buffer, what);
}

std::unique_ptr<PendingSum> Communicator::StartSum(const CommBuffer& buffer,
                                                   std::optional<int> root, std::string_view what) {
  CheckReducible(buffer, "sum", what);
  if (root && *root != rank_) CheckPeer(*root, "sum", what);
  traffic_ += root ? ReduceTraffic(buffer.count, buffer.dtype, rank_, *root)
                   : AllReduceTraffic(buffer.count, buffer.dtype, size_, rank_);
  return DoStartSum(buffer, root, what);
}

void Communicator::ReduceScatter(const CommBuffer& buffer, std::string_view what) {
  CheckReducible(buffer, "reduce-scatter", what);
  traffic_ += ReduceScatterTraffic(buffer.count, buffer.dtype, size_, rank_);
  DoReduceScatter(buffer, what);
}

void Communicator::AllGather(const CommBuffer& buffer, std::string_view what) {
  traffic_ += AllGatherTraffic(buffer.count, buffer.dtype, size_, rank_);
  DoAllGather(buffer, what);
}

void Communicator::Broadcast(const CommBuffer& buffer, int root, std::string_view what) {
  if (root != rank_) CheckPeer(root, "broadcast", what);
  for (int other = 0; other < size_; ++other) {
    if (root == rank_ && other != rank_) traffic_.AddMessage(buffer.bytes());
  }
  DoBroadcast(buffer, root, what);
}

void Communicator::Barrier(std::string_view what) { DoBarrier(what); }

void Communicator::Send(const CommBuffer& buffer, int to, std::string_view what) {
  StartSend(buffer, to, what)->Wait();
}

std::unique_ptr<PendingSend> Communicator::StartSend(const CommBuffer& buffer, int to,
                                                     std::string_view what) {
  CheckPeer(to, "send", what);
  traffic_.AddMessage(buffer.bytes());
  return DoStartSend(buffer, to, what);
}

void Communicator::Receive(const CommBuffer& buffer, int from, std::string_view what) {
  CheckPeer(from, "receive", what);
  DoReceive(buffer, from, what);
}

void Communicator::Exchange(const CommBuffer& sent, int to, const CommBuffer& received, int from,
                            std::string_view what) {
  CheckPeer(to, "exchange", what);
  CheckPeer(from, "exchange", what);
  traffic_.AddMessage(sent.bytes());
  DoExchange(sent, to, received, from, what);
}

std::unique_ptr<Communicator> Communicator::Split(int color, std::string_view what) {
  std::unique_ptr<Communicator> part = DoSplit(color, what);
  part->set_step(step_);
  return part;
}

void Communicator::CheckPeer(int peer, std::string_view operation, std::string_view what) const {
  if (peer >= 0 && peer < size_ && peer != rank_) return;
  throw UsageError({.where = std::string(operation) + " of " + std::string(what),
                    .required = "the other rank is one of this group's " + std::to_string(size_) +
                                ", and not this rank " + std::to_string(rank_),
                    .given = "rank " + std::to_string(peer),
                    .advice = {}});
}

std::unique_ptr<Communicator> MakeSelfCommunicator() {
  return std::make_unique<SelfCommunicator>();
}

}  // namespace frugal
