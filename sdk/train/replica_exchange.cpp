#include "sdk/train/replica_exchange.h"

namespace frugal {

using Kind = DataExchange::Kind;

void ReplicaExchange::Note(const DataExchange& exchange) {
  if (links_.exchanges != nullptr) links_.exchanges->push_back(exchange);
}

std::unique_ptr<PendingSum> ReplicaExchange::StartSum(const Tensor& tensor,
                                                      std::optional<std::int64_t> root,
                                                      const std::string& what) {
  Note({.kind = Kind::kSum, .count = tensor.size(), .dtype = tensor.dtype(), .root = root});
  std::unique_ptr<PendingSum> sum;
  const auto to = root ? std::optional(static_cast<int>(*root)) : std::nullopt;
  context_.Launch({OperationKind::kCommunication, 2 * tensor.bytes()}, [&](Backend&, void*) {
    sum = links_.data->StartSum(BufferOf(tensor), to, what);
  });
  return sum;
}

void ReplicaExchange::Sum(const Tensor& tensor, const std::string& what) {
  Note({.kind = Kind::kSum, .count = tensor.size(), .dtype = tensor.dtype()});
  context_.Launch({OperationKind::kCommunication, 2 * tensor.bytes()},
                  [&](Backend&, void*) { links_.data->AllReduce(BufferOf(tensor), what); });
}

void ReplicaExchange::Broadcast(const Tensor& tensor, std::int64_t root, const std::string& what) {
  Note({.kind = Kind::kBroadcast, .count = tensor.size(), .dtype = tensor.dtype(), .root = root});
  context_.Launch({OperationKind::kCommunication, tensor.bytes()}, [&](Backend&, void*) {
    links_.data->Broadcast(BufferOf(tensor), static_cast<int>(root), what);
  });
}

void ReplicaExchange::Gather(const Tensor& tensor, const std::string& what) {
  Note({.kind = Kind::kGather, .count = tensor.size(), .dtype = tensor.dtype()});
  context_.Launch({OperationKind::kCommunication, tensor.bytes()},
                  [&](Backend&, void*) { links_.data->AllGather(BufferOf(tensor), what); });
}

}  // namespace frugal
