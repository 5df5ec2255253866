#pragma once

// This file is for the loops_*.cpp files only. Every function here lies in an unnamed namespace and
// calls no library template, so that code compiled for one instruction set can never be linked in
// for another.
#include "sdk/backend/onednn/simd/elementwise_bodies.h"
#include "sdk/backend/onednn/simd/gated_bodies.h"
#include "sdk/backend/onednn/simd/layer_norm_bodies.h"
#include "sdk/backend/onednn/simd/optimizer_bodies.h"
#include "sdk/backend/onednn/simd/pool_bodies.h"
#include "sdk/backend/onednn/simd/rotary_bodies.h"
#include "sdk/backend/onednn/simd/row_bodies.h"

namespace frugal::simd {
namespace {

template <class T>
constexpr TypedLoops<T> kTypedLoops{kNormLoops<T>, kElementwiseLoops<T>, kRowLoops<T>,
                                    kGatedLoops<T>, kRotaryLoops<T>};

}  // namespace
}  // namespace frugal::simd
