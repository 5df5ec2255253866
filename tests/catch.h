#pragma once

// The one place that knows which Catch2 this is: Debian 12 has 2.13, later ones have 3.
#if __has_include(<catch2/catch.hpp>)
#include <catch2/catch.hpp>
#else
#include <catch2/catch_all.hpp>
#include <string>

using Catch::Approx;

namespace Catch {
// The name of version 2, whose Contains takes a text alone.
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }
}  // namespace Catch
#endif
