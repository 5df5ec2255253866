#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "sdk/core/source_location.h"

namespace frugal {

// Holds what every error of frugal says: where it happened, what was required there, what was given
// instead, and what to do about it.
struct Diagnostic {
  std::string where;
  std::string required;
  std::string given;
  std::string advice;
};

// Formats as "[where] required; given; advice", leaving out the parts that are empty. A part of
// more than 4,096 bytes is shortened, so that no name from a file floods a terminal.
std::string Describe(const Diagnostic& diagnostic);

// `file:line:column: [where] required; given; advice`, leaving out what is empty.
std::string DescribeAt(const SourceLocation& place, const Diagnostic& diagnostic);

// Base of everything that frugal throws for a user's mistake. A mistake of our own is an assert.
// An error keeps its parts, so that whoever knows more than the thrower adds it on the way:
//   catch (Error& error) { error.PlaceAt(location); throw; }
class Error : public std::runtime_error {
 public:
  explicit Error(const Diagnostic& diagnostic, const SourceLocation& place = {});
  // Takes a message that is a list of diagnostics, already formatted.
  explicit Error(const std::string& message);

  const char* what() const noexcept override;

  const Diagnostic& diagnostic() const;  // its parts are empty where the message is a list
  const SourceLocation& place() const;   // empty where none is known

  // Puts a place in front. The first one stays, since whoever is nearest knows it best, and a list
  // stays as it is.
  void PlaceAt(const SourceLocation& place);
  // Replaces what stands in brackets. A list stays as it is.
  void Rename(const std::string& where);

 private:
  struct Parts;
  bool IsList() const;

  std::shared_ptr<const Parts> parts_;  // shared, since an exception is copied without throwing
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

// A file that cannot be written: its directory, its permissions, or the space for it.
class FileError : public Error {
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
