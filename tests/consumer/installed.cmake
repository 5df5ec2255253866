# Installs the package, moves it elsewhere, looks at its headers, and uses it by find_package and by
# pkg-config.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

install_component(${SCRATCH}/first)
set(prefix ${SCRATCH}/prefix)
file(RENAME ${SCRATCH}/first ${prefix})
set(include_dir ${prefix}/include/frugal)
file(GLOB_RECURSE headers RELATIVE ${include_dir} ${include_dir}/*)
file(GLOB beside RELATIVE ${prefix}/include ${prefix}/include/*)
if(NOT beside STREQUAL "frugal" OR NOT "builders/frugal.h" IN_LIST headers)
  fail("headers belong under include/frugal; there are: ${beside}")
endif()

# --- what is internal stays at home, and what is installed needs nothing else --------------------
foreach(header IN LISTS headers)
  if(header MATCHES "/(onednn|eigen|budget|html|json)/|/dry_run/(dry_training|trial|saved_bytes)|/backend/common/|/config/types/([a-z]+_families|size_fields|shared_fields)")
    fail("the internal ${header} was installed: does a public header include it?")
  endif()
  file(STRINGS ${include_dir}/${header} includes REGEX "^#include")
  if(includes MATCHES "toml\\+\\+|Eigen/|dnnl|spdlog|nlohmann|catch2|zlib|png\\.h|CLI/|omp\\.h")
    fail("the installed ${header} includes a header of another library")
  endif()
  foreach(line IN LISTS includes)
    if(line MATCHES "\"(.*)\"" AND NOT CMAKE_MATCH_1 IN_LIST headers)
      fail("the installed ${header} includes ${CMAKE_MATCH_1}, which is not installed")
    endif()
  endforeach()
endforeach()

# --- every header compiles on its own ------------------------------------------------------------
# The build of frugal does not show it: there the standard library comes precompiled.
use_by_find_package(${prefix} "-DHEADERS=${headers}")
use_by_pkg_config(${prefix})

# --- the command and the documentation -----------------------------------------------------------
if(EXISTS ${prefix}/bin/frugal)
  run("run the command" ${prefix}/bin/frugal --version)
  if(NOT run_output STREQUAL "frugal ${VERSION}\n")
    fail("frugal --version printed: ${run_output}")
  endif()
endif()
foreach(file README.md LICENSE)
  if(NOT EXISTS ${prefix}/share/doc/frugal/${file})
    fail("${file} was not installed")
  endif()
endforeach()
if(EXISTS ${prefix}/bin/frugal)
  foreach(file doc/frugal/reference.md man/man1/frugal.1 bash-completion/completions/frugal
               zsh/site-functions/_frugal fish/vendor_completions.d/frugal.fish)
    file(READ ${prefix}/share/${file} text)
    if(NOT text MATCHES "optimizer")
      fail("share/${file}, which the command prints, was installed without keys")
    endif()
  endforeach()
endif()
list(LENGTH headers all)
list(LENGTH alone some)
message(STATUS "${all} headers installed, ${some} of them compiled alone here")
