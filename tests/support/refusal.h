#pragma once

#include <string>

#include "sdk/core/error.h"

namespace frugal::testing {

// Returns the message of the error that a call ends in; nothing where it ends well.
template <class Call>
std::string RefusalOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace frugal::testing
