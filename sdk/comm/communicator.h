#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "sdk/comm/traffic.h"
#include "sdk/core/dtype.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

// Numbers that ranks exchange, contiguous and of one type.
struct CommBuffer {
  void* data = nullptr;
  std::int64_t count = 0;
  DType dtype = DType::kF32;

  std::int64_t bytes() const { return count * SizeOf(dtype); }
};
CommBuffer BufferOf(const Tensor& tensor);

// A message on its way. The buffer must stay as it is until Wait returns; a message that nobody
// took by the end of this object is taken back.
class PendingSend {
 public:
  PendingSend() = default;
  PendingSend(const PendingSend&) = delete;
  PendingSend& operator=(const PendingSend&) = delete;
  virtual ~PendingSend() = default;

  // Returns when the buffer may be used again. Throws CommunicationError where the run has failed.
  virtual void Wait() = 0;
};

// A sum over all ranks on its way. The buffer belongs to it until it is done or this object dies,
// which takes this rank out of it.
class PendingSum {
 public:
  PendingSum() = default;
  PendingSum(const PendingSum&) = delete;
  PendingSum& operator=(const PendingSum&) = delete;
  virtual ~PendingSum() = default;

  // Does this rank's part in it as far as that needs no waiting. Returns whether the sum is done.
  virtual bool Progress() = 0;
  // Returns when it is done. Throws CommunicationError where the run has failed.
  virtual void Wait() = 0;
};

// One rank of a group that works together, which may be threads of this process or processes on any
// number of machines. Everything but Send, Receive and Exchange is collective: all ranks of the
// group call it, in one order, with buffers of one size and type. `what` names the data in errors
// ("gradients of blocks.3"). Throws CommunicationError where ranks disagree, wait for each other,
// or another one has failed.
class Communicator {
 public:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Leaves the sums over all ranks in every rank's buffer: f32, f64, or bf16, which is summed in
  // f32 and rounded once. Sums go in the order of ranks, ((x0 + x1) + x2) + ..., so that their bits
  // depend on the ranks alone and not on how these are connected.
  void AllReduce(const CommBuffer& buffer, std::string_view what);
  // Begins to sum as AllReduce does, and returns at once. With a root, that rank alone gets the
  // sums, and what the buffers of others hold then is undefined. Ranks begin sums in one order;
  // they go on in Progress, and while this rank waits for anything.
  std::unique_ptr<PendingSum> StartSum(const CommBuffer& buffer, std::optional<int> root,
                                       std::string_view what);
  // Leaves the sums of this rank's part (PartOf) in their place; what the rest of the buffer holds
  // then is undefined.
  void ReduceScatter(const CommBuffer& buffer, std::string_view what);
  // Every rank brings its part in its place, and gets the parts of all others.
  void AllGather(const CommBuffer& buffer, std::string_view what);
  void Broadcast(const CommBuffer& buffer, int root, std::string_view what);
  void Barrier(std::string_view what);

  // Messages from one rank to another arrive in the order in which they were sent. Send returns
  // when the buffer may be used again, which may be only after the other rank received it.
  void Send(const CommBuffer& buffer, int to, std::string_view what);
  // Sends without waiting for the other rank.
  std::unique_ptr<PendingSend> StartSend(const CommBuffer& buffer, int to, std::string_view what);
  void Receive(const CommBuffer& buffer, int from, std::string_view what);
  // Sends and receives at once, so that neighbours who do so with each other never wait forever.
  void Exchange(const CommBuffer& sent, int to, const CommBuffer& received, int from,
                std::string_view what);

  // Returns the group of the ranks that gave the same color, in the order of their ranks here. It
  // must not outlive this communicator.
  std::unique_ptr<Communicator> Split(int color, std::string_view what);

  // Errors name the step; -1 stands for none.
  void set_step(std::int64_t step) { step_ = step; }
  std::int64_t step() const { return step_; }

  const Traffic& traffic() const { return traffic_; }

 protected:
  virtual void DoAllReduce(const CommBuffer& buffer, std::string_view what) = 0;
  virtual std::unique_ptr<PendingSum> DoStartSum(const CommBuffer& buffer, std::optional<int> root,
                                                 std::string_view what) = 0;
  virtual void DoReduceScatter(const CommBuffer& buffer, std::string_view what) = 0;
  virtual void DoAllGather(const CommBuffer& buffer, std::string_view what) = 0;
  virtual void DoBroadcast(const CommBuffer& buffer, int root, std::string_view what) = 0;
  virtual void DoBarrier(std::string_view what) = 0;
  virtual std::unique_ptr<PendingSend> DoStartSend(const CommBuffer& buffer, int to,
                                                   std::string_view what) = 0;
  virtual void DoReceive(const CommBuffer& buffer, int from, std::string_view what) = 0;
  virtual void DoExchange(const CommBuffer& sent, int to, const CommBuffer& received, int from,
                          std::string_view what) = 0;
  virtual std::unique_ptr<Communicator> DoSplit(int color, std::string_view what) = 0;

 private:
  void CheckPeer(int peer, std::string_view operation, std::string_view what) const;

  int rank_, size_;
  std::int64_t step_ = -1;
  Traffic traffic_;
};

// Returns the group of one rank, where nothing moves.
std::unique_ptr<Communicator> MakeSelfCommunicator();

}  // namespace frugal
