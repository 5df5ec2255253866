#include "sdk/comm/process/message_links.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "sdk/comm/communication_error.h"
#include "sdk/core/dtype.h"

namespace frugal {
namespace {

// Chunks follow each other within microseconds where both ranks are at it.
constexpr int kSpins = 2000;

std::string Describe(const ChunkHeader& header) {
  std::string text = std::string(NameOf(static_cast<CommOperation>(header.operation))) + " of " +
                     header.what.data();
  if (header.count > 0) {
    text += ", " + std::to_string(header.count) + " " +
            std::string(NameOf(static_cast<DType>(header.dtype)));
  }
  return header.root < 0 ? text : text + " from rank " + std::to_string(header.root);
}

}  // namespace

std::string_view NameOf(CommOperation operation) {
  switch (operation) {
    case CommOperation::kAllReduce:
      return "all-reduce";
    case CommOperation::kSum:
      return "sum";
    case CommOperation::kReduceScatter:
      return "reduce-scatter";
    case CommOperation::kAllGather:
      return "all-gather";
    case CommOperation::kBroadcast:
      return "broadcast";
    case CommOperation::kBarrier:
      return "barrier";
    case CommOperation::kMessage:
      return "message";
    case CommOperation::kSplit:
      return "split";
  }
  return "unknown operation";
}

MessageLinks::MessageLinks(std::unique_ptr<ChunkTransport> transport)
    : transport_(std::move(transport)), queued_(static_cast<std::size_t>(transport_->size())) {}

void MessageLinks::Begin(const std::string& activity) {
  activity_ = activity;
  transport_->Begin(activity);
}

void MessageLinks::WaitFor(int other, const std::function<bool()>& ready) {
  WaitFor([other] { return other; }, ready);
}

void MessageLinks::WaitFor(const std::function<int()>& other, const std::function<bool()>& ready) {
  while (true) {
    for (int spin = 0; spin < kSpins; ++spin) {
      if (ready()) return;
      if (spin % 64 == 63) PushQueued();
      if (!pending_.empty()) AdvancePending();
      _mm_pause();
    }
    const std::uint32_t ticket = transport_->Ticket();
    PushQueued();
    AdvancePending();
    if (ready()) return;
    try {
      transport_->CheckOthers(other(), activity_);
    } catch (const LostRankError&) {
      if (ready()) return;  // it had sent everything before
      throw;
    }
    transport_->Rest(ticket);
  }
}

void MessageLinks::PushQueued() {
  for (int to = 0; to < transport_->size(); ++to) PushQueued(to);
}

// Returns whether nothing is left.
bool MessageLinks::PushQueued(int to) {
  auto& queue = queued_[static_cast<std::size_t>(to)];
  while (!queue.empty()) {
    OutgoingMessage& message = *queue.front();
    std::byte* chunk = transport_->TryReserve(to);
    if (chunk == nullptr) return false;
    const std::int64_t piece = std::min(kPayloadBytes, message.bytes - message.sent);
    std::memcpy(chunk, &message.header, sizeof message.header);
    if (piece > 0) {
      std::memcpy(chunk + sizeof message.header, message.data + message.sent,
                  static_cast<std::size_t>(piece));
    }
    transport_->Commit(to, static_cast<std::int64_t>(sizeof message.header) + piece);
    message.sent += piece;
    if (message.sent < message.bytes) continue;
    message.done = true;
    queue.pop_front();
  }
  return true;
}

std::shared_ptr<OutgoingMessage> MessageLinks::Start(int to, const ChunkHeader& header,
                                                     std::span<const std::byte> data) {
  auto message = std::make_shared<OutgoingMessage>();
  message->header = header;
  message->data = data.data();
  message->bytes = static_cast<std::int64_t>(data.size());
  queued_[static_cast<std::size_t>(to)].push_back(message);
  PushQueued(to);
  return message;
}

void MessageLinks::Await(const OutgoingMessage& message, int to) {
  WaitFor(to, [&] { return message.done || (PushQueued(to), message.done); });
}

void MessageLinks::Retract(const std::shared_ptr<OutgoingMessage>& message, int to) {
  std::erase(queued_[static_cast<std::size_t>(to)], message);
}

void MessageLinks::AdvancePending() {
  // Chunks of a later one come behind those of an earlier one.
  while (!pending_.empty() && pending_.front()->Advance()) pending_.pop_front();
}

void MessageLinks::FinishPending() {
  while (!pending_.empty()) Finish(*pending_.front());
}

void MessageLinks::FinishPendingWith(int rank) {
  const auto involves = [&](const auto& work) { return work->Involves(rank); };
  while (std::ranges::any_of(pending_, involves)) Finish(*pending_.front());
}

void MessageLinks::Finish(PendingWork& work) {
  const auto is_done = [&] {
    AdvancePending();
    return IsDone(work);
  };
  WaitFor([&] { return pending_.empty() ? -1 : pending_.front()->waits_for(); }, is_done);
}

bool MessageLinks::IsDone(const PendingWork& work) const {
  return std::ranges::none_of(pending_, [&](const auto& one) { return one.get() == &work; });
}

void MessageLinks::Remove(const PendingWork& work) {
  std::erase_if(pending_, [&](const auto& one) { return one.get() == &work; });
}

std::byte* MessageLinks::TryReserve(int to, const ChunkHeader& header) {
  if (!PushQueued(to)) return nullptr;
  std::byte* chunk = transport_->TryReserve(to);
  if (chunk == nullptr) return nullptr;
  std::memcpy(chunk, &header, sizeof header);
  return chunk + sizeof header;
}

std::byte* MessageLinks::Reserve(int to, const ChunkHeader& header) {
  std::byte* payload = nullptr;
  WaitFor(to, [&] { return (payload = TryReserve(to, header)) != nullptr; });
  return payload;
}

void MessageLinks::Send(int to, std::int64_t payload_bytes) {
  transport_->Commit(to, static_cast<std::int64_t>(sizeof(ChunkHeader)) + payload_bytes);
}

std::span<const std::byte> MessageLinks::Front(int from, const ChunkHeader& expected) {
  WaitFor(from, [&] { return !transport_->TryFront(from).empty(); });
  return TryFront(from, expected);
}

std::span<const std::byte> MessageLinks::TryFront(int from, const ChunkHeader& expected) {
  const std::span<const std::byte> chunk = transport_->TryFront(from);
  if (chunk.empty()) return {};
  ChunkHeader arrived;
  std::memcpy(&arrived, chunk.data(), sizeof arrived);
  Check(from, arrived, expected);
  return chunk.subspan(sizeof arrived);
}

void MessageLinks::Check(int from, const ChunkHeader& arrived, const ChunkHeader& expected) const {
  if (arrived.Agrees(expected)) return;
  throw CommunicationError(
      {.where = "rank " + std::to_string(transport_->rank()) + ", " + activity_,
       .required = "all ranks of a group come to the same operation, with buffers of one size",
       .given = "rank " + std::to_string(from) + " came to " + Describe(arrived) +
                ", this one to " + Describe(expected),
       .advice = "give all ranks one configuration"});
}

}  // namespace frugal
