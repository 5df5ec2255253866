#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "sdk/comm/mpi/mpi_heart.h"
#include "sdk/comm/process/chunk_transport.h"

namespace frugal {

// Carries chunks as messages of MPI, to ranks on any machine. Where one ends, what started them
// ends all; where one stops, the rank behind it notices (MpiHeart).
class MpiTransport final : public ChunkTransport {
 public:
  explicit MpiTransport(MPI_Comm ranks);
  ~MpiTransport() override;

  std::byte* TryReserve(int to) override;
  void Commit(int to, std::int64_t bytes) override;
  std::span<const std::byte> TryFront(int from) override;
  void Pop(int from) override;

  std::uint32_t Ticket() override { return 0; }
  void Rest(std::uint32_t ticket) override;
  void Begin(const std::string& activity) override { heart_.Begin(activity); }
  void CheckOthers(int, const std::string& activity) override { heart_.Check(activity); }
  void End() override;
  void Fail(const std::string&) override {}

 private:
  static constexpr std::size_t kChunksOnTheirWay = 8;  // to each rank
  struct Sent {
    std::vector<std::byte> chunk;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Peer {
    std::array<Sent, kChunksOnTheirWay> sent;
    std::size_t next = 0;  // of `sent`
    std::vector<std::byte> received;
    std::size_t received_bytes = 0;  // 0 where none has arrived
  };
  Peer& Of(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

  MPI_Comm ranks_;
  std::vector<Peer> peers_;
  MpiHeart heart_;
};

}  // namespace frugal
