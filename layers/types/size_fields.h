#pragma once

#include "presets/config/field_limits.h"
#include "presets/config/make_field.h"

// Rows that many architectures have.
namespace frugal {

template <class T, class M>
Field SizeField(std::string name, M T::*member, std::string doc) {
  return MakeField(std::move(name), member, std::move(doc), {.min = 1, .max = kMostPerAxis});
}

// Blocks are made as objects, before anything is planned: the deepest networks that are published
// have as many.
inline constexpr double kMostBlocks = 10000;

template <class T>
Field CountField(std::string name, std::int64_t T::*member, std::string doc) {
  return MakeField(std::move(name), member, std::move(doc), {.min = 0, .max = kMostBlocks});
}

template <class T>
Field EpsilonField(std::string name, double T::*member) {
  return MakeField(std::move(name), member, "Added to the variance of norms.",
                   {.min = 0, .min_exclusive = true});
}

template <class T>
Field RateField(std::string name, double T::*member, std::string doc) {
  return MakeField(std::move(name), member, std::move(doc),
                   {.min = 0, .max = 1, .max_exclusive = true});
}

template <class T>
Field RatioField(std::string name, double T::*member) {
  return MakeField(std::move(name), member, "Features inside a block, in those outside.",
                   {.min = 0, .max = 1000, .min_exclusive = true});
}

}  // namespace frugal
