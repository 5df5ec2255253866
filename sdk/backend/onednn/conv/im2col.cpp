#include "sdk/backend/onednn/conv/im2col.h"

#include <algorithm>

#include "sdk/backend/backend.h"
#include "sdk/backend/common/parallel.h"

namespace frugal::onednn {
namespace {

// Channels [begin, end) of the places of one window.
struct ChannelPart {
  std::int64_t begin, end;
};

// kPlaces is the number of places where it is known.
template <std::int64_t kPlaces>
void GatherWindow(const float* const* places, std::int64_t count, const ChannelPart& channels,
                  float* to) {
  if constexpr (kPlaces > 0) count = kPlaces;
  for (std::int64_t c = channels.begin; c < channels.end; ++c) {
    for (std::int64_t place = 0; place < count; ++place) to[c * count + place] = places[place][c];
  }
}

template <std::int64_t kPlaces>
void ScatterWindow(const float* from, std::int64_t count, const ChannelPart& channels,
                   float* const* places) {
  if constexpr (kPlaces > 0) count = kPlaces;
  for (std::int64_t c = channels.begin; c < channels.end; ++c) {
    for (std::int64_t place = 0; place < count; ++place)
      places[place][c] += from[c * count + place];
  }
}

bool IsWholeInput(const WindowGeometry& w) {
  constexpr Spatial kOnes{1, 1, 1}, kNone{};
  return w.kernel == kOnes && w.stride == kOnes && w.padding_begin == kNone &&
         w.padding_end == kNone;
}

}  // namespace

Im2col::Im2col(const ConvGeometry& g)
    : windows_(OutputParts(g).front()),
      channels_(g.input_channels),
      places_(g.window.KernelSize()),
      rows_(windows_.Positions(g.window.batch)),
      is_input_(IsWholeInput(g.window)) {}

template <class T>
void Im2col::FindPlaces(const Im2colIterator& position, T* input, T* outside, T** places) const {
  for (std::int64_t i = 0; i < places_; ++i) {
    T* const found = position.Find(input, windows_.places[static_cast<std::size_t>(i)].offset);
    places[i] = found == nullptr ? outside : found;
  }
}

void Im2col::Gather(const float* input, std::int64_t first, std::int64_t count, const float* zeros,
                    float* to) const {
  const auto gather = places_ == 9 ? GatherWindow<9> : GatherWindow<0>;
  eigen::ParallelFor(count, eigen::RowsPerChunk(columns()),
                     [&](std::int64_t begin, std::int64_t end) {
                       const float* places[kMostPlaces];
                       Im2colIterator position(windows_.source, first + begin);
                       for (std::int64_t row = begin; row < end; ++row, position.Next()) {
                         FindPlaces(position, input, zeros, places);
                         gather(places, places_, {0, channels_}, to + row * columns());
                       }
                     });
}

// Threads share the channels, since windows overlap.
void Im2col::Scatter(const float* from, std::int64_t first, std::int64_t count, float* outside,
                     float* input) const {
  const auto scatter = places_ == 9 ? ScatterWindow<9> : ScatterWindow<0>;
  constexpr std::int64_t kLine = 16;  // channels that share a line of the cache
  const std::int64_t each = (channels_ + ThreadCount() - 1) / ThreadCount();
  eigen::ParallelFor(channels_, (each + kLine - 1) / kLine * kLine,
                     [&](std::int64_t begin, std::int64_t end) {
                       float* places[kMostPlaces];
                       Im2colIterator position(windows_.source, first);
                       for (std::int64_t row = 0; row < count; ++row, position.Next()) {
                         FindPlaces(position, input, outside, places);
                         scatter(from + row * columns(), places_, {begin, end}, places);
                       }
                     });
}

}  // namespace frugal::onednn
