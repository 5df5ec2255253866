#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/tensor/tensor.h"

namespace frugal {

// How a parameter starts. fan_in and fan_out are those of a weight [out, in, kernel...]: in (out)
// times the kernel's size; a vector's are its length.
struct Initializer {
  enum class Kind : std::uint8_t {
    kZero,
    kConstant,       // a
    kUniform,        // [a, b)
    kNormal,         // mean a, standard deviation b
    kXavierUniform,  // +- sqrt(6 / (fan_in + fan_out)) (Glorot & Bengio, AISTATS 2010)
    kXavierNormal,   // sqrt(2 / (fan_in + fan_out))
    kHeUniform,      // +- sqrt(6 / fan_in) (He et al., arXiv:1502.01852)
    kHeNormal,       // sqrt(2 / fan_in)
    kLecunUniform,   // +- sqrt(3 / fan_in) (LeCun et al., "Efficient BackProp", 1998)
    kLecunNormal,    // sqrt(1 / fan_in)
    // Row of a grid of a columns, b apart; features: sines and cosines of the column, then of the
    // row (He et al., arXiv:2111.06377, appendix A.1). Of the last axis; the rows are those before
    // it.
    kGridSinusoid,
    kOrthogonal,  // a random orthogonal matrix times a (Saxe et al., arXiv:1312.6120)
  };
  Kind kind = Kind::kZero;
  double a = 0;
  double b = 0;

  static Initializer Zero() { return {}; }
  static Initializer Constant(double value) { return {Kind::kConstant, value, 0}; }
  static Initializer Uniform(double low, double high) { return {Kind::kUniform, low, high}; }
  static Initializer Normal(double mean, double deviation) {
    return {Kind::kNormal, mean, deviation};
  }
  static Initializer XavierUniform() { return {Kind::kXavierUniform, 0, 0}; }
  static Initializer XavierNormal() { return {Kind::kXavierNormal, 0, 0}; }
  static Initializer HeUniform() { return {Kind::kHeUniform, 0, 0}; }
  static Initializer HeNormal() { return {Kind::kHeNormal, 0, 0}; }
  static Initializer LecunUniform() { return {Kind::kLecunUniform, 0, 0}; }
  static Initializer LecunNormal() { return {Kind::kLecunNormal, 0, 0}; }
  static Initializer GridSinusoid(std::int64_t columns, double step = 1) {
    return {Kind::kGridSinusoid, static_cast<double>(columns), step};
  }
  static Initializer Orthogonal(double gain = 1) { return {Kind::kOrthogonal, gain, 0}; }
};

std::string_view NameOf(Initializer::Kind kind);  // "zero", "xavier_uniform", ...

struct Fans {
  std::int64_t in = 1;
  std::int64_t out = 1;
};
Fans FansOf(const Shape& shape);

// Fills a kF32 or kF64 tensor. Element i depends only on (seed, path, i); f32 values are the f64
// ones, rounded. Orthogonal matrices depend on all of (seed, path, shape).
void Initialize(const Initializer& initializer, std::uint64_t seed, std::string_view path,
                const Tensor& tensor);

// A random row-major matrix whose rows (where rows <= columns) or columns (otherwise) are
// orthonormal: a Gaussian matrix of stream `key`, orthogonalized. In double precision; O(n m min).
std::vector<double> OrthogonalMatrix(std::uint64_t key, std::int64_t rows, std::int64_t columns);

}  // namespace frugal
