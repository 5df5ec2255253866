#include "sdk/comm/traffic.h"

#include <algorithm>

namespace frugal {

CommPart PartOf(std::int64_t count, int size, int rank) {
  const std::int64_t each = count / size, more = count % size;
  return {.begin = rank * each + std::min<std::int64_t>(rank, more),
          .count = each + (rank < more ? 1 : 0)};
}

Traffic ReduceScatterTraffic(std::int64_t count, DType dtype, int size, int rank) {
  Traffic traffic;
  for (int other = 0; other < size; ++other) {
    if (other != rank) traffic.AddMessage(PartOf(count, size, other).count * SizeOf(dtype));
  }
  return traffic;
}

Traffic AllGatherTraffic(std::int64_t count, DType dtype, int size, int rank) {
  Traffic traffic;
  const std::int64_t own = PartOf(count, size, rank).count * SizeOf(dtype);
  for (int other = 0; other < size; ++other) {
    if (other != rank) traffic.AddMessage(own);
  }
  return traffic;
}

Traffic ReduceTraffic(std::int64_t count, DType dtype, int rank, int root) {
  Traffic traffic;
  if (rank != root) traffic.AddMessage(count * SizeOf(dtype));
  return traffic;
}

Traffic AllReduceTraffic(std::int64_t count, DType dtype, int size, int rank) {
  Traffic traffic = ReduceScatterTraffic(count, dtype, size, rank);
  return traffic += AllGatherTraffic(count, dtype, size, rank);
}

}  // namespace frugal
