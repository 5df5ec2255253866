# Libraries that ship no CMake package that can be relied on, as imported targets. Read by the build
# and, installed beside it, by frugalConfig.cmake.
#
# libgomp: oneDNN runs on it, so a program has one OpenMP runtime if frugal does too, whichever
# compiler is used; every compiler finds it beside libgcc.
#
# oneDNN: Debian's own package file insists on OpenCL's headers, which a CPU program never includes
# and which libdnnl-dev only recommends.

foreach(library dnnl xxhash)
  if(NOT TARGET frugal::system_${library})
    find_path(FRUGAL_${library}_INCLUDE_DIR ${library}.h REQUIRED)
    find_library(FRUGAL_${library}_LIBRARY ${library} REQUIRED)
    mark_as_advanced(FRUGAL_${library}_INCLUDE_DIR FRUGAL_${library}_LIBRARY)
    add_library(frugal::system_${library} UNKNOWN IMPORTED)
    set_target_properties(frugal::system_${library} PROPERTIES
      IMPORTED_LOCATION "${FRUGAL_${library}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${FRUGAL_${library}_INCLUDE_DIR}")
  endif()
endforeach()

if(NOT TARGET frugal::system_gomp)
  add_library(frugal::system_gomp INTERFACE IMPORTED)
  set_target_properties(frugal::system_gomp PROPERTIES INTERFACE_LINK_LIBRARIES gomp)
endif()
