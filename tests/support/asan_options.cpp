// Read by the address sanitizer where the tests are built with it: a request that the system cannot
// serve is to fail as it does without, since tests make some.
extern "C" const char* __asan_default_options();  // NOLINT(bugprone-reserved-identifier)

extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "allocator_may_return_null=1";
}
