#include "builders/cli/tensor_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sdk/io/weights/convert_elements.h"

namespace frugal::cli {
namespace {

// Welford's way to add one element to a mean and a sum of squared differences from it (B. P.
// Welford, "Note on a method for calculating corrected sums of squares and products",
// Technometrics 4(3), 1962): no cancellation where the mean is far from zero.
class Accumulator {
 public:
  void Add(double value) {
    if (std::isnan(value)) {
      ++statistics_.nan_count;
      return;
    }
    TensorStatistics& s = statistics_;
    s.min = s.count == 0 ? value : std::min(s.min, value);
    s.max = s.count == 0 ? value : std::max(s.max, value);
    ++s.count;
    const double difference = value - s.mean;
    s.mean += difference / static_cast<double>(s.count);
    squares_ += difference * (value - s.mean);
  }

  TensorStatistics Finish() const {
    TensorStatistics statistics = statistics_;
    if (statistics.count > 0) {
      statistics.std = std::sqrt(squares_ / static_cast<double>(statistics.count));
    }
    return statistics;
  }

 private:
  TensorStatistics statistics_;
  double squares_ = 0;
};

}  // namespace

TensorStatistics StatisticsOf(const WeightSource& file, const StoredTensor& tensor) {
  std::vector<std::byte> stored(static_cast<std::size_t>(ByteCount(tensor)));
  file.Read(tensor, stored);
  const auto element_bytes = static_cast<std::size_t>(SizeOf(tensor.dtype));
  const std::size_t count = stored.size() / element_bytes;
  std::array<double, 1024> chunk{};
  Accumulator accumulator;
  for (std::size_t at = 0; at < count; at += chunk.size()) {
    const std::span<double> part(chunk.data(), std::min(chunk.size(), count - at));
    ConvertElements(tensor.dtype, stored.data() + at * element_bytes, part);
    for (const double value : part) accumulator.Add(value);
  }
  return accumulator.Finish();
}

}  // namespace frugal::cli
