#include "builders/budget/paging_time.h"

#include "sdk/io/paging/page_rate.h"

namespace frugal {
namespace {

double SecondsOfDisk(const PageRate& rate, const PagingTraffic& traffic) {
  return static_cast<double>(traffic.in_bytes) / rate.read +
         static_cast<double>(traffic.out_bytes) / rate.write;
}

// Returns what the passes take longer than without this traffic, while the disk keeps up.
double SecondsOfThreads(const PageRate& rate, const PagingTraffic& traffic) {
  return static_cast<double>(traffic.in_bytes + traffic.out_bytes) * (1 / rate.copy + rate.delay);
}

// Returns what forward passes read and write. A weight is read by the forward pass, the backward
// pass and its update, and written once; all else that is read was written as often.
PagingTraffic ForwardTrafficOf(const BudgetCandidate& candidate) {
  const PagingTraffic& step = candidate.footprint.paged;
  const std::int64_t kept =
      candidate.footprint.paged_activation_bytes * candidate.settings.micro_batches;
  return {.in_bytes = std::max<std::int64_t>(0, step.in_bytes - step.out_bytes) / 2,
          .out_bytes = std::min(kept, step.out_bytes)};
}

}  // namespace

double PageSeconds(const TrainingSetup& setup, const PagingTraffic& traffic) {
  if (traffic == PagingTraffic()) return 0;
  return SecondsOfDisk(PageRateAt(*setup.config.memory.memory_page_file), traffic);
}

double SecondsWithPaging(const TrainingSetup& setup, const BudgetCandidate& candidate,
                         PassSeconds passes) {
  const PagingTraffic& step = candidate.footprint.paged;
  if (step == PagingTraffic()) return passes.all;
  const PageRate rate = PageRateAt(*setup.config.memory.memory_page_file);
  const PagingTraffic first = ForwardTrafficOf(candidate);
  const PagingTraffic rest = {step.in_bytes - first.in_bytes, step.out_bytes - first.out_bytes};
  const double forward = passes.forward;
  return std::max(forward + SecondsOfThreads(rate, first), SecondsOfDisk(rate, first)) +
         std::max(passes.all - forward + SecondsOfThreads(rate, rest), SecondsOfDisk(rate, rest));
}

}  // namespace frugal
