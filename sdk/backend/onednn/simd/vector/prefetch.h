#pragma once

#include <cstdint>
#include <type_traits>

// Loops over memory ask for what lies ahead of them, where that was found to make a step faster
// (frugal train --profile): a processor by itself fetches too little for loops that compute much,
// or whose data come from beyond the second cache. Loops that gained nothing do without.
namespace frugal::simd {
namespace {

inline constexpr std::int64_t kBytesAhead = 1024;

// Asks for `count` elements, to write them where they are not const.
template <class T>
inline void FetchLines(T* elements, std::int64_t count) {
  constexpr std::int64_t kLine = 64, kSize = sizeof(T);
  const char* const bytes = reinterpret_cast<const char*>(elements);
  for (std::int64_t i = 0; i < count * kSize; i += kLine) {
    __builtin_prefetch(bytes + i, !std::is_const_v<T>, 2);
  }
}

// Asks for as many elements that lie kBytesAhead behind.
template <class T>
inline void FetchAhead(T* elements, std::int64_t count) {
  FetchLines(elements + kBytesAhead / static_cast<std::int64_t>(sizeof(T)), count);
}

// body(begin, end) for pieces of [0, n), fetching ahead in these arrays of n elements.
template <class Body, class... T>
inline void FetchingAhead(std::int64_t n, const Body& body, T*... arrays) {
  constexpr std::int64_t kPiece = 256;
  for (std::int64_t begin = 0; begin < n; begin += kPiece) {
    const std::int64_t end = begin + kPiece < n ? begin + kPiece : n;
    (FetchAhead(arrays + begin, end - begin), ...);
    body(begin, end);
  }
}

}  // namespace
}  // namespace frugal::simd
