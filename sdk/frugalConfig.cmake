# find_package(frugal): defines frugal::sdk, frugal::layers, frugal::presets, frugal::builders and
# frugal::frugal (all of them). A static library needs its own dependencies at link time.
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
find_dependency(spdlog)
find_dependency(ZLIB)
find_dependency(PNG)
find_dependency(tomlplusplus)
include(${CMAKE_CURRENT_LIST_DIR}/system_libraries.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/frugalTargets.cmake)
