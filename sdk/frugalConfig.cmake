# find_package(frugal) defines frugal::frugal. Where both kinds of the library are installed,
# BUILD_SHARED_LIBS chooses. A static library needs its own dependencies at link time.
set(frugal_kind static)
if(NOT EXISTS ${CMAKE_CURRENT_LIST_DIR}/frugal-static.cmake
   OR (BUILD_SHARED_LIBS AND EXISTS ${CMAKE_CURRENT_LIST_DIR}/frugal-shared.cmake))
  set(frugal_kind shared)
endif()

include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
if(frugal_kind STREQUAL static)
  find_dependency(spdlog)
  find_dependency(ZLIB)
  find_dependency(PNG)
  find_dependency(tomlplusplus)
  include(${CMAKE_CURRENT_LIST_DIR}/system_libraries.cmake)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/frugal-${frugal_kind}.cmake)
