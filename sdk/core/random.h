#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace frugal {

// Counter-based random numbers (Philox4x32-10, Salmon et al., SC'11): number i of stream `key` is a
// pure function of (key, i), so any element can be drawn alone, in any order, on any machine.

// A stream of its own for each (seed, name, number), e.g. (seed, parameter path, 0) or
// (seed, dropout path, step).
std::uint64_t StreamKey(std::uint64_t seed, std::string_view name, std::uint64_t number = 0);

// Four independent 32-bit words for counter `block`.
std::array<std::uint32_t, 4> RandomWords(std::uint64_t key, std::uint64_t block);

// Uniform in [0, 1) with 24 random bits: word i % 4 of block i / 4.
double UniformAt(std::uint64_t key, std::uint64_t index);
// Makes such a number from a word, for loops that draw a block at a time.
constexpr double UniformFromWord(std::uint32_t word) { return (word >> 8) * (1.0 / 16777216.0); }

// Standard normal by Box and Muller: one pair of numbers from block index / 2.
double NormalAt(std::uint64_t key, std::uint64_t index);

// numbers[i] = UniformAt(key, first + i) or NormalAt(key, first + i), several times as fast as one
// by one.
void FillUniforms(std::uint64_t key, std::uint64_t first, std::span<double> numbers);
void FillNormals(std::uint64_t key, std::uint64_t first, std::span<double> numbers);

}  // namespace frugal
