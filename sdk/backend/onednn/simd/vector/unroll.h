#pragma once

#include <utility>

// Loops over registers. See all_bodies.h for the unnamed namespace.
namespace frugal::simd {
namespace {

template <int... kIndex, class Body>
[[gnu::always_inline]] inline void UnrollOver(std::integer_sequence<int, kIndex...> /*indices*/,
                                              const Body& body) {
  (body.template operator()<kIndex>(), ...);
}

// body.operator()<i>() for i < kCount, so that an array with these indices lies in registers: g++
// unrolls an ordinary loop only after it has given the array a place in memory, which it then
// clears and copies around every block of a product.
template <int kCount, class Body>
[[gnu::always_inline]] inline void Unroll(const Body& body) {
  UnrollOver(std::make_integer_sequence<int, kCount>(), body);
}

// body.operator()<i, j>() for i < kRows and j < kColumns
template <int kRows, int kColumns, class Body>
[[gnu::always_inline]] inline void Unroll(const Body& body) {
  Unroll<kRows * kColumns>(
      [&]<int i>() { body.template operator()<i / kColumns, i % kColumns>(); });
}

}  // namespace
}  // namespace frugal::simd
