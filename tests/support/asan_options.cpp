// Read by the address sanitizer where the tests are built with it: a request that the system cannot
// serve is to fail as it does without, since tests make some; and freed memory is not to be held
// back for long, since tests watch the resident size.
extern "C" const char* __asan_default_options();  // NOLINT(bugprone-reserved-identifier)

extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "allocator_may_return_null=1:quarantine_size_mb=1";
}
