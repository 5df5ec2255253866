#define CATCH_CONFIG_RUNNER
#include "tests/catch.h"

int main(int argument_count, char** arguments) {
  return Catch::Session().run(argument_count, arguments);
}
