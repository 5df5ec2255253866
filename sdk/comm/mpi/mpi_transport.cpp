#include "sdk/comm/mpi/mpi_transport.h"

#include <chrono>
#include <thread>

namespace frugal {
namespace {

constexpr int kTag = 1;
constexpr std::chrono::microseconds kRest{50};

int RankIn(MPI_Comm ranks) {
  int rank = 0;
  MPI_Comm_rank(ranks, &rank);
  return rank;
}

int SizeOf(MPI_Comm ranks) {
  int size = 1;
  MPI_Comm_size(ranks, &size);
  return size;
}

}  // namespace

MpiTransport::MpiTransport(MPI_Comm ranks)
    : ChunkTransport(RankIn(ranks), SizeOf(ranks)),
      peers_(static_cast<std::size_t>(size())),
      heart_(ranks) {
  MPI_Comm_dup(ranks, &ranks_);
}

MpiTransport::~MpiTransport() { MPI_Comm_free(&ranks_); }

std::byte* MpiTransport::TryReserve(int to) {
  Peer& peer = Of(to);
  Sent& sent = peer.sent[peer.next];
  int done = 0;
  MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE);
  if (done == 0) return nullptr;
  sent.chunk.resize(static_cast<std::size_t>(kChunkBytes));
  return sent.chunk.data();
}

void MpiTransport::Commit(int to, std::int64_t bytes) {
  Peer& peer = Of(to);
  Sent& sent = peer.sent[peer.next];
  MPI_Isend(sent.chunk.data(), static_cast<int>(bytes), MPI_BYTE, to, kTag, ranks_, &sent.request);
  peer.next = (peer.next + 1) % kChunksOnTheirWay;
}

std::span<const std::byte> MpiTransport::TryFront(int from) {
  Peer& peer = Of(from);
  if (peer.received_bytes == 0) {
    int arrived = 0;
    MPI_Status status;
    MPI_Iprobe(from, kTag, ranks_, &arrived, &status);
    if (arrived == 0) return {};
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    peer.received.resize(static_cast<std::size_t>(kChunkBytes));
    MPI_Recv(peer.received.data(), bytes, MPI_BYTE, from, kTag, ranks_, MPI_STATUS_IGNORE);
    peer.received_bytes = static_cast<std::size_t>(bytes);
  }
  return {peer.received.data(), peer.received_bytes};
}

void MpiTransport::Pop(int from) { Of(from).received_bytes = 0; }

void MpiTransport::Rest(std::uint32_t) { std::this_thread::sleep_for(kRest); }

void MpiTransport::End() {
  for (Peer& peer : peers_) {
    for (Sent& sent : peer.sent) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
  }
  heart_.End();
}

}  // namespace frugal
