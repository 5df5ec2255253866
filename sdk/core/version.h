#pragma once

// The version of these headers, as three numbers for #if and as a text, "0.1.0". CMakeLists.txt
// reads the numbers here, so that the package, the shared library and the command have the same.

#define FRUGAL_VERSION_MAJOR 0
#define FRUGAL_VERSION_MINOR 1
#define FRUGAL_VERSION_PATCH 0

#define FRUGAL_TEXT_OF_ARGUMENT(number) #number
#define FRUGAL_TEXT_OF(number) FRUGAL_TEXT_OF_ARGUMENT(number)
#define FRUGAL_VERSION                 \
  FRUGAL_TEXT_OF(FRUGAL_VERSION_MAJOR) \
  "." FRUGAL_TEXT_OF(FRUGAL_VERSION_MINOR) "." FRUGAL_TEXT_OF(FRUGAL_VERSION_PATCH)
