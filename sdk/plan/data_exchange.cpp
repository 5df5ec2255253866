#include "sdk/plan/data_exchange.h"

namespace frugal {
namespace {

Traffic TrafficOf(const DataExchange& exchange, int size, int rank) {
  const std::int64_t count = exchange.count;
  switch (exchange.kind) {
    case DataExchange::Kind::kSum:
      return exchange.root
                 ? ReduceTraffic(count, exchange.dtype, rank, static_cast<int>(*exchange.root))
                 : AllReduceTraffic(count, exchange.dtype, size, rank);
    case DataExchange::Kind::kGather:
      return AllGatherTraffic(count, exchange.dtype, size, rank);
    case DataExchange::Kind::kBroadcast:
      break;
  }
  Traffic traffic;
  for (int other = 1; other < size && exchange.root == rank; ++other) {
    traffic.AddMessage(count * SizeOf(exchange.dtype));
  }
  return traffic;
}

}  // namespace

Traffic TrafficOf(std::span<const DataExchange> exchanges, std::int64_t size, std::int64_t rank) {
  Traffic traffic;
  for (const DataExchange& exchange : exchanges) {
    traffic += TrafficOf(exchange, static_cast<int>(size), static_cast<int>(rank));
  }
  return traffic;
}

}  // namespace frugal
