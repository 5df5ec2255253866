#pragma once

#include <memory>
#include <vector>

#include "sdk/comm/process/chunk_transport.h"

namespace frugal {

// Carries chunks between ranks of one machine over one transport, and to those of others over
// another one.
class RoutedTransport final : public ChunkTransport {
 public:
  // `near_ranks` lists the ranks of this machine in the order of their numbers on `near`.
  RoutedTransport(std::unique_ptr<ChunkTransport> near, const std::vector<int>& near_ranks,
                  std::unique_ptr<ChunkTransport> far);

  std::byte* TryReserve(int to) override { return Of(to).TryReserve(NumberOf(to)); }
  void Commit(int to, std::int64_t bytes) override { Of(to).Commit(NumberOf(to), bytes); }
  std::span<const std::byte> TryFront(int from) override {
    return Of(from).TryFront(NumberOf(from));
  }
  void Pop(int from) override { Of(from).Pop(NumberOf(from)); }

  std::uint32_t Ticket() override { return far_->Ticket(); }
  void Rest(std::uint32_t ticket) override { far_->Rest(ticket); }
  void Begin(const std::string& activity) override;
  void CheckOthers(int waits_for, const std::string& activity) override;
  void End() override;
  void Fail(const std::string& message) override;

 private:
  bool IsNear(int rank) const { return numbers_[static_cast<std::size_t>(rank)] >= 0; }
  ChunkTransport& Of(int rank) { return IsNear(rank) ? *near_ : *far_; }
  int NumberOf(int rank) const {
    return IsNear(rank) ? numbers_[static_cast<std::size_t>(rank)] : rank;
  }

  std::unique_ptr<ChunkTransport> near_, far_;
  std::vector<int> numbers_;  // on `near_`, by rank; -1 for those of other machines
};

}  // namespace frugal
