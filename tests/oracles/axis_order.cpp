#include "tests/oracles/axis_order.h"

namespace frugal::oracles {
namespace {

// [N, a, b] -> [N, b, a]
std::vector<double> SwapInner(const std::vector<double>& from, std::int64_t batch, std::int64_t a,
                              std::int64_t b) {
  std::vector<double> to(from.size());
  for (std::int64_t n = 0; n < batch; ++n) {
    for (std::int64_t i = 0; i < a; ++i) {
      for (std::int64_t j = 0; j < b; ++j) {
        to[static_cast<std::size_t>((n * b + j) * a + i)] =
            from[static_cast<std::size_t>((n * a + i) * b + j)];
      }
    }
  }
  return to;
}

}  // namespace

Numbers ToChannelsLast(const Numbers& numbers) {
  const Shape& from = numbers.shape;
  Shape shape = from;
  for (std::size_t axis = 1; axis + 1 < from.rank(); ++axis) shape[axis] = from[axis + 1];
  shape[from.rank() - 1] = from[1];
  const std::int64_t positions = from.ElementCount() / (from[0] * from[1]);
  return {shape, SwapInner(numbers.values, from[0], from[1], positions)};
}

Numbers ToChannelsFirst(const Numbers& numbers) {
  const Shape& from = numbers.shape;
  Shape shape = from;
  for (std::size_t axis = 2; axis < from.rank(); ++axis) shape[axis] = from[axis - 1];
  shape[1] = from.back();
  const std::int64_t positions = from.ElementCount() / (from[0] * from.back());
  return {shape, SwapInner(numbers.values, from[0], positions, from.back())};
}

}  // namespace frugal::oracles
