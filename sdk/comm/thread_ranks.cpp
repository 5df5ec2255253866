#include "sdk/comm/thread_ranks.h"

#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sdk/comm/communication_error.h"
#include "sdk/comm/ordered_sum.h"
#include "sdk/comm/thread_sum.h"
#include "sdk/comm/thread_world.h"

namespace frugal {
namespace {

// Holds what a rank asks of a collective operation.
struct Call {
  std::string_view operation;
  CommBuffer buffer{};
  int root = -1;
  int color = 0;
  std::string what{};

  bool Agrees(const Call& other) const {
    return operation == other.operation && buffer.count == other.buffer.count &&
           buffer.dtype == other.buffer.dtype && root == other.root;
  }
};

std::string Describe(const Call& call) {
  std::string text = std::string(call.operation) + " of " + call.what;
  if (call.buffer.count > 0) {
    text += ", " + std::to_string(call.buffer.count) + " " + std::string(NameOf(call.buffer.dtype));
  }
  return call.root < 0 ? text : text + " from rank " + std::to_string(call.root);
}

struct Message {
  CommBuffer buffer;
  std::string what;
  bool taken = false;  // the receiver reads the buffer, or has read it
  bool done = false;
};

// Holds what the ranks of a group share, under the lock of their world.
struct Group {
  std::shared_ptr<ThreadWorld> world;
  std::vector<int> world_ranks;
  std::vector<Call> calls;                   // of the collective operation that goes on
  std::vector<std::shared_ptr<Group>> made;  // by the first rank of each color of a Split
  std::int64_t arrived = 0;
  std::int64_t meetings = 0;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Message>>> messages;  // from, to
  // Sums that not all ranks have begun; the first of them is number `begun_by_all`.
  std::deque<std::shared_ptr<ThreadSum>> sums;
  std::size_t begun_by_all = 0;

  Group(std::shared_ptr<ThreadWorld> shared, std::vector<int> ranks)
      : world(std::move(shared)),
        world_ranks(std::move(ranks)),
        calls(world_ranks.size()),
        made(world_ranks.size()) {}
  int size() const { return static_cast<int>(world_ranks.size()); }
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<Group> group, int rank)
      : Communicator(rank, group->size()), group_(std::move(group)) {}

 private:
  ThreadWorld& world() const { return *group_->world; }
  int world_rank() const { return group_->world_ranks[static_cast<std::size_t>(rank())]; }
  std::string Activity(std::string_view operation, std::string_view what) const {
    return (step() < 0 ? "" : "step " + std::to_string(step()) + ", ") + std::string(operation) +
           " of " + std::string(what);
  }

  // Begins a collective operation: returns when all ranks have come to it. Throws where they came
  // to another one.
  void Begin(Call call) {
    const std::string activity = Activity(call.operation, call.what);
    ThreadWorld::Lock lock = world().Acquire();
    group_->calls[static_cast<std::size_t>(rank())] = std::move(call);
    const std::int64_t meeting = group_->meetings;
    Arrive();
    try {
      world().Wait(lock, world_rank(), activity, [&] { return group_->meetings != meeting; });
    } catch (const CommunicationError&) {
      // This rank's buffer dies with the error, so nobody may meet it there any more.
      --group_->arrived;
      throw;
    }
    CheckCalls(activity);
  }
  // Ends it: returns when no rank reads or writes another one's buffer any more.
  void End() {
    ThreadWorld::Lock lock = world().Acquire();
    const std::int64_t meeting = group_->meetings;
    Arrive();
    world().WaitForCopies(lock, [&] { return group_->meetings != meeting; });
  }
  void Arrive() {
    if (++group_->arrived < size()) return;
    group_->arrived = 0;
    ++group_->meetings;
    world().Changed();
  }
  void CheckCalls(const std::string& activity) const {
    const Call& first = group_->calls.front();
    for (std::size_t other = 1; other < group_->calls.size(); ++other) {
      if (group_->calls[other].Agrees(first)) continue;
      throw CommunicationError(
          {.where = "rank " + std::to_string(world_rank()) + ", " + activity,
           .required = "all ranks of a group come to the same operation, with buffers of one size",
           .given = "rank " + std::to_string(group_->world_ranks.front()) + " came to " +
                    Describe(first) + ", rank " + std::to_string(group_->world_ranks[other]) +
                    " to " + Describe(group_->calls[other]),
           .advice = "give all ranks one configuration"});
    }
  }

  std::byte* BytesOf(int of) const {
    return static_cast<std::byte*>(group_->calls[static_cast<std::size_t>(of)].buffer.data);
  }
  void Sum(const CommBuffer& buffer, bool for_all) {
    std::vector<const void*> sources;
    std::vector<void*> targets;
    for (const Call& call : group_->calls) {
      sources.push_back(call.buffer.data);
      if (for_all) targets.push_back(call.buffer.data);
    }
    if (!for_all) targets.push_back(buffer.data);
    const CommPart part = PartOf(buffer.count, size(), rank());
    SumInOrder(sources, targets, part.begin, part.count, buffer.dtype);
  }

  void DoAllReduce(const CommBuffer& buffer, std::string_view what) override {
    Begin({.operation = "all-reduce", .buffer = buffer, .what = std::string(what)});
    Sum(buffer, true);
    End();
  }
  std::unique_ptr<PendingSum> DoStartSum(const CommBuffer& buffer, std::optional<int> root,
                                         std::string_view what) override {
    const std::string activity = Activity("sum", what);
    const ThreadWorld::Lock lock = world().Acquire();
    const std::size_t place = sums_begun_++ - group_->begun_by_all;
    if (place == group_->sums.size()) {
      group_->sums.push_back(std::make_shared<ThreadSum>(group_->world, size(), buffer, root));
    }
    const std::shared_ptr<ThreadSum> sum = group_->sums[place];
    if (sum->Post(rank(), buffer, root, "rank " + std::to_string(world_rank()) + ", " + activity)) {
      group_->sums.pop_front();
      ++group_->begun_by_all;
    }
    return MakePendingSum(sum, rank(), world_rank(), activity);
  }
  void DoReduceScatter(const CommBuffer& buffer, std::string_view what) override {
    Begin({.operation = "reduce-scatter", .buffer = buffer, .what = std::string(what)});
    Sum(buffer, false);
    End();
  }
  void DoAllGather(const CommBuffer& buffer, std::string_view what) override {
    Begin({.operation = "all-gather", .buffer = buffer, .what = std::string(what)});
    const std::int64_t element = SizeOf(buffer.dtype);
    for (int other = 0; other < size(); ++other) {
      const CommPart part = PartOf(buffer.count, size(), other);
      if (other == rank() || part.count == 0) continue;
      std::memcpy(BytesOf(rank()) + part.begin * element, BytesOf(other) + part.begin * element,
                  static_cast<std::size_t>(part.count * element));
    }
    End();
  }
  void DoBroadcast(const CommBuffer& buffer, int root, std::string_view what) override {
    Begin({.operation = "broadcast", .buffer = buffer, .root = root, .what = std::string(what)});
    if (rank() != root && buffer.count > 0) {
      std::memcpy(buffer.data, BytesOf(root), static_cast<std::size_t>(buffer.bytes()));
    }
    End();
  }
  void DoBarrier(std::string_view what) override {
    Begin({.operation = "barrier", .what = std::string(what)});
    End();
  }

  std::shared_ptr<Message> Post(const CommBuffer& buffer, int to, std::string_view what) {
    auto message = std::make_shared<Message>(Message{.buffer = buffer, .what = std::string(what)});
    const ThreadWorld::Lock lock = world().Acquire();
    group_->messages[{rank(), to}].push_back(message);
    world().Changed();
    return message;
  }
  // Returns when the message was read. A run that fails first takes it back.
  void Await(const std::shared_ptr<Message>& message, int to, std::string_view operation) {
    ThreadWorld::Lock lock = world().Acquire();
    try {
      world().Wait(lock, world_rank(),
                   Activity(operation, message->what) + " to rank " + std::to_string(to),
                   [&] { return message->done; });
    } catch (const CommunicationError&) {
      if (message->taken) world().WaitForCopies(lock, [&] { return message->done; });
      std::erase(group_->messages[{rank(), to}], message);
      throw;
    }
  }
  void Take(const CommBuffer& buffer, int from, std::string_view operation, std::string_view what) {
    const std::string activity = Activity(operation, what) + " from rank " + std::to_string(from);
    ThreadWorld::Lock lock = world().Acquire();
    auto& waiting = group_->messages[{from, rank()}];
    world().Wait(lock, world_rank(), activity, [&] { return !waiting.empty(); });
    const std::shared_ptr<Message> message = waiting.front();
    CheckMessage(*message, buffer, activity);
    waiting.pop_front();
    message->taken = true;
    lock.unlock();
    if (buffer.count > 0) {
      std::memcpy(buffer.data, message->buffer.data, static_cast<std::size_t>(buffer.bytes()));
    }
    lock.lock();
    message->done = true;
    world().Changed();
  }
  void CheckMessage(const Message& message, const CommBuffer& buffer,
                    const std::string& activity) const {
    if (message.buffer.count == buffer.count && message.buffer.dtype == buffer.dtype) return;
    throw CommunicationError({.where = "rank " + std::to_string(world_rank()) + ", " + activity,
                              .required = "the message is one of " + std::to_string(buffer.count) +
                                          " " + std::string(NameOf(buffer.dtype)),
                              .given = message.what + " of " +
                                       std::to_string(message.buffer.count) + " " +
                                       std::string(NameOf(message.buffer.dtype)) + " arrived",
                              .advice = "give all ranks one configuration"});
  }

  class Sending final : public PendingSend {
   public:
    Sending(ThreadCommunicator& from, std::shared_ptr<Message> message, int to)
        : from_(from), message_(std::move(message)), to_(to) {}
    ~Sending() override { from_.Retract(message_, to_); }
    void Wait() override { from_.Await(message_, to_, "send"); }

   private:
    ThreadCommunicator& from_;
    std::shared_ptr<Message> message_;
    int to_;
  };
  std::unique_ptr<PendingSend> DoStartSend(const CommBuffer& buffer, int to,
                                           std::string_view what) override {
    return std::make_unique<Sending>(*this, Post(buffer, to, what), to);
  }
  void DoReceive(const CommBuffer& buffer, int from, std::string_view what) override {
    Take(buffer, from, "receive", what);
  }
  void DoExchange(const CommBuffer& sent, int to, const CommBuffer& received, int from,
                  std::string_view what) override {
    const auto message = Post(sent, to, what);
    try {
      Take(received, from, "exchange", what);
    } catch (const CommunicationError&) {
      Retract(message, to);
      throw;
    }
    Await(message, to, "exchange");
  }
  void Retract(const std::shared_ptr<Message>& message, int to) {
    ThreadWorld::Lock lock = world().Acquire();
    if (message->taken) world().WaitForCopies(lock, [&] { return message->done; });
    std::erase(group_->messages[{rank(), to}], message);
  }

  std::unique_ptr<Communicator> DoSplit(int color, std::string_view what) override {
    Begin({.operation = "split", .color = color, .what = std::string(what)});
    std::vector<int> members, ranks;
    int own = 0;
    for (int other = 0; other < size(); ++other) {
      if (group_->calls[static_cast<std::size_t>(other)].color != color) continue;
      if (other == rank()) own = static_cast<int>(members.size());
      members.push_back(other);
      ranks.push_back(group_->world_ranks[static_cast<std::size_t>(other)]);
    }
    const auto first = static_cast<std::size_t>(members.front());
    if (own == 0) group_->made[first] = std::make_shared<Group>(group_->world, std::move(ranks));
    End();
    auto part = std::make_unique<ThreadCommunicator>(group_->made[first], own);
    // The next Split must not replace what somebody has not taken yet.
    Begin({.operation = "split", .what = std::string(what)});
    End();
    return part;
  }

  std::shared_ptr<Group> group_;
  std::size_t sums_begun_ = 0;
};

std::string MessageOf(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "an unknown error";
  }
}

// Throws the error again, with the rank in front of where it happened.
[[noreturn]] void Rethrow(const std::exception_ptr& error, int rank) {
  try {
    std::rethrow_exception(error);
  } catch (Error& known) {
    const std::string& where = known.diagnostic().where;
    const std::string prefix = "rank " + std::to_string(rank);
    if (!where.starts_with(prefix)) known.Rename(where.empty() ? prefix : prefix + ", " + where);
    throw;
  }
}

}  // namespace

void RunThreadRanks(int size, const std::function<void(Communicator&)>& body) {
  if (size < 1) {
    throw UsageError({.where = "RunThreadRanks",
                      .required = "at least one rank runs",
                      .given = "size = " + std::to_string(size),
                      .advice = {}});
  }
  WorkerThreads threads(size);
  RunThreadRanks(threads, size, body);
}

void RunThreadRanks(WorkerThreads& threads, int size,
                    const std::function<void(Communicator&)>& body) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto world = std::make_shared<ThreadWorld>(size);
  const auto group = std::make_shared<Group>(world, ranks);
  std::mutex mutex;
  std::optional<std::pair<int, std::exception_ptr>> failed;  // the first
  threads.Run(size, [&](int rank) {
    try {
      ThreadCommunicator communicator(group, rank);
      body(communicator);
      world->End(rank);
    } catch (...) {
      {
        const std::scoped_lock lock(mutex);
        if (!failed) failed = {rank, std::current_exception()};
      }
      world->Fail(rank, MessageOf(std::current_exception()));
    }
  });
  if (failed) Rethrow(failed->second, failed->first);
}

}  // namespace frugal
