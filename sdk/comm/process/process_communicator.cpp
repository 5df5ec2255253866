#include "sdk/comm/process/process_communicator.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sdk/comm/process/summation.h"

namespace frugal {
namespace {

std::byte* At(const CommBuffer& buffer, std::int64_t element) {
  return static_cast<std::byte*>(buffer.data) + element * SizeOf(buffer.dtype);
}

// Piece number `index` of a part, as many elements of which as a chunk can hold.
CommPart PieceOf(const CommPart& part, std::int64_t index, DType dtype) {
  const std::int64_t most = MessageLinks::kPayloadBytes / SizeOf(dtype);
  const std::int64_t begin = std::min(index * most, part.count);
  return {.begin = part.begin + begin, .count = std::min(most, part.count - begin)};
}

std::uint32_t Mix(std::uint32_t seed, std::uint32_t value) {
  return (seed ^ value) * 0x9E3779B1U + 0x85EBCA6BU;
}

class ProcessCommunicator final : public Communicator {
 public:
  ProcessCommunicator(std::shared_ptr<MessageLinks> links, std::vector<int> world_ranks, int rank,
                      std::uint32_t group)
      : Communicator(rank, static_cast<int>(world_ranks.size())),
        links_(std::move(links)),
        world_ranks_(std::move(world_ranks)),
        group_(group) {}

 private:
  int World(int rank) const { return world_ranks_[static_cast<std::size_t>(rank)]; }

  ChunkHeader Begin(CommOperation operation, const CommBuffer& buffer, std::string_view what,
                    int root = -1, std::string_view name = {}, int peer = -1) {
    // Chunks between two ranks arrive in order: what a sum still sends comes first.
    if (operation == CommOperation::kMessage) {
      links_->FinishPendingWith(World(peer));
    } else if (operation != CommOperation::kSum) {
      links_->FinishPending();
    }
    ChunkHeader header = {.group = group_,
                          .operation = static_cast<std::uint32_t>(operation),
                          .count = buffer.count,
                          .dtype = static_cast<std::int32_t>(buffer.dtype),
                          .root = root};
    header.what[what.copy(header.what.data(), header.what.size() - 1)] = '\0';
    std::string activity = step() < 0 ? "" : "step " + std::to_string(step()) + ", ";
    activity += std::string(name.empty() ? NameOf(operation) : name) + " of " + std::string(what);
    if (peer >= 0) {
      activity += (name == "send" ? " to rank " : " from rank ") + std::to_string(World(peer));
    }
    links_->Begin(activity);
    return header;
  }

  template <class Body>
  void ForOthers(const Body& body) const {
    // Every rank begins with the one behind it, so that not all go to the same one first.
    for (int i = 1; i < size(); ++i) body((rank() + i) % size());
  }

  void SendPiece(int to, const ChunkHeader& header, const CommBuffer& buffer,
                 const CommPart& piece) {
    const std::int64_t bytes = piece.count * SizeOf(buffer.dtype);
    std::byte* chunk = links_->Reserve(World(to), header);
    if (bytes > 0) std::memcpy(chunk, At(buffer, piece.begin), static_cast<std::size_t>(bytes));
    links_->Send(World(to), bytes);
  }
  void ReceivePiece(int from, const ChunkHeader& header, const CommBuffer& buffer,
                    const CommPart& piece) {
    const std::span<const std::byte> payload = links_->Front(World(from), header);
    if (!payload.empty()) std::memcpy(At(buffer, piece.begin), payload.data(), payload.size());
    links_->Pop(World(from));
  }

  std::int64_t PiecesOf(const CommBuffer& buffer) const {
    const std::int64_t most = MessageLinks::kPayloadBytes / SizeOf(buffer.dtype);
    return (PartOf(buffer.count, size(), 0).count + most - 1) / most;
  }

  std::shared_ptr<Summation> StartSummation(const ChunkHeader& header, const CommBuffer& buffer,
                                            const SumTargets& targets) {
    auto sum = std::make_shared<Summation>(*links_, world_ranks_, rank(), header, buffer, targets);
    links_->Add(sum);
    links_->AdvancePending();
    return sum;
  }
  void Reduce(const ChunkHeader& header, const CommBuffer& buffer, bool for_all) {
    links_->Finish(*StartSummation(header, buffer, {.root = {}, .for_all = for_all}));
  }

  void DoAllReduce(const CommBuffer& buffer, std::string_view what) override {
    Reduce(Begin(CommOperation::kAllReduce, buffer, what), buffer, true);
  }

  class SumOnItsWay final : public PendingSum {
   public:
    SumOnItsWay(std::shared_ptr<MessageLinks> links, std::shared_ptr<Summation> sum)
        : links_(std::move(links)), sum_(std::move(sum)) {}
    ~SumOnItsWay() override { links_->Remove(*sum_); }
    bool Progress() override {
      links_->AdvancePending();
      return links_->IsDone(*sum_);
    }
    void Wait() override { links_->Finish(*sum_); }

   private:
    std::shared_ptr<MessageLinks> links_;
    std::shared_ptr<Summation> sum_;
  };
  std::unique_ptr<PendingSum> DoStartSum(const CommBuffer& buffer, std::optional<int> root,
                                         std::string_view what) override {
    const ChunkHeader header = Begin(CommOperation::kSum, buffer, what, root.value_or(-1));
    return std::make_unique<SumOnItsWay>(
        links_, StartSummation(header, buffer, {.root = root, .for_all = !root}));
  }
  void DoReduceScatter(const CommBuffer& buffer, std::string_view what) override {
    Reduce(Begin(CommOperation::kReduceScatter, buffer, what), buffer, false);
  }
  void DoAllGather(const CommBuffer& buffer, std::string_view what) override {
    Gather(Begin(CommOperation::kAllGather, buffer, what), buffer);
  }
  void Gather(const ChunkHeader& header, const CommBuffer& buffer) {
    for (std::int64_t i = 0; i < PiecesOf(buffer); ++i) {
      const auto piece_of = [&](int rank) {
        return PieceOf(PartOf(buffer.count, size(), rank), i, buffer.dtype);
      };
      if (piece_of(rank()).count > 0) {
        ForOthers([&](int other) { SendPiece(other, header, buffer, piece_of(rank())); });
      }
      ForOthers([&](int other) {
        if (piece_of(other).count > 0) ReceivePiece(other, header, buffer, piece_of(other));
      });
    }
  }
  void DoBroadcast(const CommBuffer& buffer, int root, std::string_view what) override {
    const ChunkHeader header = Begin(CommOperation::kBroadcast, buffer, what, root);
    const CommPart whole = {.begin = 0, .count = buffer.count};
    for (std::int64_t i = 0;; ++i) {
      const CommPart piece = PieceOf(whole, i, buffer.dtype);
      if (piece.count == 0 && i > 0) return;
      if (rank() != root) {
        ReceivePiece(root, header, buffer, piece);
      } else {
        ForOthers([&](int other) { SendPiece(other, header, buffer, piece); });
      }
    }
  }
  void DoBarrier(std::string_view what) override {
    const ChunkHeader header = Begin(CommOperation::kBarrier, {}, what);
    ForOthers([&](int other) { SendPiece(other, header, {}, {}); });
    ForOthers([&](int other) { ReceivePiece(other, header, {}, {}); });
  }

  class Sending final : public PendingSend {
   public:
    Sending(std::shared_ptr<MessageLinks> links, std::shared_ptr<OutgoingMessage> message, int to)
        : links_(std::move(links)), message_(std::move(message)), to_(to) {}
    ~Sending() override { links_->Retract(message_, to_); }
    void Wait() override { links_->Await(*message_, to_); }

   private:
    std::shared_ptr<MessageLinks> links_;
    std::shared_ptr<OutgoingMessage> message_;
    int to_;
  };
  std::unique_ptr<PendingSend> DoStartSend(const CommBuffer& buffer, int to,
                                           std::string_view what) override {
    const ChunkHeader header = Begin(CommOperation::kMessage, buffer, what, -1, "send", to);
    const std::span<const std::byte> data(At(buffer, 0), static_cast<std::size_t>(buffer.bytes()));
    return std::make_unique<Sending>(links_, links_->Start(World(to), header, data), World(to));
  }
  void DoReceive(const CommBuffer& buffer, int from, std::string_view what) override {
    const ChunkHeader header = Begin(CommOperation::kMessage, buffer, what, -1, "receive", from);
    Receive(header, buffer, from);
  }
  void Receive(const ChunkHeader& header, const CommBuffer& buffer, int from) {
    std::int64_t received = 0;
    do {
      const std::span<const std::byte> payload = links_->Front(World(from), header);
      if (!payload.empty()) std::memcpy(At(buffer, 0) + received, payload.data(), payload.size());
      received += static_cast<std::int64_t>(payload.size());
      links_->Pop(World(from));
    } while (received < buffer.bytes());
  }
  void DoExchange(const CommBuffer& sent, int to, const CommBuffer& received, int from,
                  std::string_view what) override {
    const auto sending = DoStartSend(sent, to, what);
    DoReceive(received, from, what);
    sending->Wait();
  }

  std::unique_ptr<Communicator> DoSplit(int color, std::string_view what) override {
    std::vector<std::int64_t> colors(static_cast<std::size_t>(size()));
    colors[static_cast<std::size_t>(rank())] = color;
    const CommBuffer buffer = {.data = colors.data(), .count = size(), .dtype = DType::kI64};
    Gather(Begin(CommOperation::kSplit, buffer, what), buffer);
    std::vector<int> members;
    int own = 0;
    for (int other = 0; other < size(); ++other) {
      if (colors[static_cast<std::size_t>(other)] != color) continue;
      if (other == rank()) own = static_cast<int>(members.size());
      members.push_back(World(other));
    }
    const std::uint32_t group = Mix(Mix(group_, ++splits_), static_cast<std::uint32_t>(color));
    return std::make_unique<ProcessCommunicator>(links_, std::move(members), own, group);
  }

  std::shared_ptr<MessageLinks> links_;
  std::vector<int> world_ranks_;
  std::uint32_t group_;
  std::uint32_t splits_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> MakeProcessCommunicator(std::shared_ptr<MessageLinks> links) {
  const ChunkTransport& transport = links->transport();
  std::vector<int> ranks(static_cast<std::size_t>(transport.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const int rank = transport.rank();
  return std::make_unique<ProcessCommunicator>(std::move(links), std::move(ranks), rank, 1);
}

}  // namespace frugal
