#pragma once

#include <string>

// clang says it by __has_feature, g++ by a macro for each.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FRUGAL_IS_SANITIZED true
#endif
#endif
#if !defined(FRUGAL_IS_SANITIZED) && (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__))
#define FRUGAL_IS_SANITIZED true
#endif

namespace frugal::testing {

// A sanitizer takes memory, address space and time of its own, which limits of the process and of
// the clock would count.
#ifdef FRUGAL_IS_SANITIZED
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

// Notes that the test case that runs now is skipped, and prints its name and the reason. The case
// must bear a tag [needs-...], by which ctest runs it apart from those that always run; without
// one it fails.
void NoteSkipped(const std::string& reason);

}  // namespace frugal::testing

// Ends a test case here, as skipped for `reason`, where the machine or the system lacks what it
// needs.
#define FRUGAL_SKIP_UNLESS(condition, reason) \
  do {                                        \
    if (!(condition)) {                       \
      frugal::testing::NoteSkipped(reason);   \
      return;                                 \
    }                                         \
  } while (false)
