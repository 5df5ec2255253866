#pragma once

#include <stdexcept>
#include <string>

namespace frugal {

// What every error of frugal says: where it happened, what was required there, what was given
// instead, and what to do about it.
struct Complaint {
  std::string where;
  std::string required;
  std::string given;
  std::string advice;
};

// Formats as "[where] required; given; advice", leaving out the parts that are empty.
std::string Describe(const Complaint& complaint);

// Base of everything that frugal throws for a user's mistake. A mistake of our own is an assert.
class Error : public std::runtime_error {
 public:
  explicit Error(const Complaint& complaint);
  // For messages that are lists of complaints, already formatted.
  explicit Error(const std::string& message);
};

// A configuration (TOML, command line, fluent call) that cannot be honoured.
class ConfigError : public Error {
 public:
  using Error::Error;
};

// Tensor or layer shapes that do not fit together.
class ShapeError : public Error {
 public:
  using Error::Error;
};

// A data set that is missing, unreadable or not what was announced.
class DataError : public Error {
 public:
  using Error::Error;
};

// A weight file that is missing, malformed, or does not fit the model.
class WeightFileError : public Error {
 public:
  using Error::Error;
};

// A memory limit that a request or a plan would exceed.
class MemoryError : public Error {
 public:
  using Error::Error;
};

// A call that the interface does not allow in this state or with these arguments.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace frugal
