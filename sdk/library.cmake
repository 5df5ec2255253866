# The library, of the objects of all rooms. Programs of this repository link the static one, since
# they look inside; frugal::frugal, which others link, is the kind that BUILD_SHARED_LIBS asks for.
set(frugal_objects "")
foreach(room sdk sdk_Baseline sdk_Avx2 sdk_Avx512 layers presets builders)
  list(APPEND frugal_objects $<TARGET_OBJECTS:frugal_${room}>)
endforeach()
set(frugal_libraries spdlog::spdlog ZLIB::ZLIB PNG::PNG
    tomlplusplus::tomlplusplus frugal::system_dnnl frugal::system_xxhash frugal::system_gomp)
set(frugal_apart_objects $<TARGET_OBJECTS:frugal_sdk_apart> $<TARGET_OBJECTS:frugal_builders_apart>)

get_property(frugal_public_headers GLOBAL PROPERTY frugal_public_headers)
include(${CMAKE_CURRENT_LIST_DIR}/user_headers.cmake)

# frugal_library(<kind> <type> <objects>...): the target frugal_<kind>.
function(frugal_library kind type)
  add_library(frugal_${kind} ${type} ${frugal_objects} ${ARGN})
  set_target_properties(frugal_${kind} PROPERTIES
    OUTPUT_NAME frugal EXPORT_NAME frugal LINKER_LANGUAGE CXX)
  target_compile_features(frugal_${kind} PUBLIC cxx_std_20)
  target_include_directories(frugal_${kind} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<BUILD_INTERFACE:${frugal_user_include_dir}>)
  target_link_libraries(frugal_${kind} PUBLIC Threads::Threads PRIVATE ${frugal_libraries})
endfunction()

frugal_library(static STATIC ${frugal_apart_objects})
set(frugal_kind static)
if(BUILD_SHARED_LIBS)
  set(frugal_kind shared)
endif()

# A program that calls neither frugal::Cli nor captures links this one, so that whoever wants that
# program alone need not wait for the sources of both.
frugal_library(core STATIC)
set_target_properties(frugal_core PROPERTIES OUTPUT_NAME frugal_core)

# The tests look at the shared library too, which costs no more than linking it.
if(BUILD_SHARED_LIBS OR FRUGAL_TESTS)
  frugal_library(shared SHARED ${frugal_apart_objects})
  set(script ${PROJECT_SOURCE_DIR}/sdk/version_script.cmake)
  set(map ${PROJECT_BINARY_DIR}/frugal.map)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sdk/*.h
       ${PROJECT_SOURCE_DIR}/layers/*.h ${PROJECT_SOURCE_DIR}/presets/*.h
       ${PROJECT_SOURCE_DIR}/builders/*.h)
  add_custom_command(OUTPUT ${map} VERBATIM COMMENT "Listing the public symbols"
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} "-DHEADERS=${frugal_public_headers}"
            -DNM=${CMAKE_NM} -DARCHIVE=$<TARGET_FILE:frugal_static> -DMAP=${map} -P ${script}
    DEPENDS frugal_static ${script} ${PROJECT_SOURCE_DIR}/sdk/public_headers.cmake ${headers})
  target_sources(frugal_shared PRIVATE ${map})
  set_target_properties(frugal_shared PROPERTIES LINK_DEPENDS ${map} VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_link_options(frugal_shared PRIVATE LINKER:--version-script=${map})
  if(NOT FRUGAL_SANITIZE)
    target_link_options(frugal_shared PRIVATE LINKER:-z,defs)
  endif()
endif()
add_library(frugal::frugal ALIAS frugal_${frugal_kind})
