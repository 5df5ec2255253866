# What `cmake --install` and `cpack` put where.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(frugal_include_dir ${CMAKE_INSTALL_INCLUDEDIR}/frugal)
set(frugal_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/frugal)
set(frugal_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# --- the library and how it is found ------------------------------------------------------------
# The kind that was not asked for is a component that only its name installs; the tests do.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE frugal_prefix_from_pc)
function(frugal_install_library kind)
  set(others "")
  if(NOT kind STREQUAL frugal_kind)
    set(others EXCLUDE_FROM_ALL)
  endif()
  set(frugal_pc_requires "")
  set(frugal_pc_libraries "")
  if(kind STREQUAL static)
    set(frugal_pc_requires "spdlog zlib libpng libxxhash tomlplusplus")
    set(frugal_pc_libraries "-ldnnl -lgomp -pthread")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/sdk/frugal.pc.in ${PROJECT_BINARY_DIR}/${kind}/frugal.pc @ONLY)
  set(component COMPONENT ${kind} ${others})
  target_include_directories(frugal_${kind} INTERFACE $<INSTALL_INTERFACE:${frugal_include_dir}>)
  install(TARGETS frugal_${kind} EXPORT frugal_${kind}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component})
  install(EXPORT frugal_${kind} FILE frugal-${kind}.cmake NAMESPACE frugal::
          DESTINATION ${frugal_package_dir} ${component})
  install(FILES ${PROJECT_BINARY_DIR}/${kind}/frugal.pc DESTINATION ${frugal_pkgconfig_dir}
          ${component})
endfunction()
frugal_install_library(static)
if(TARGET frugal_shared)
  frugal_install_library(shared)
endif()

write_basic_package_version_file(${PROJECT_BINARY_DIR}/frugalConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/sdk/frugalConfig.cmake
              ${PROJECT_SOURCE_DIR}/sdk/system_libraries.cmake
              ${PROJECT_BINARY_DIR}/frugalConfigVersion.cmake
        DESTINATION ${frugal_package_dir} COMPONENT headers)

# --- public headers, found at the time of installing --------------------------------------------
install(CODE "
  include(\"${PROJECT_SOURCE_DIR}/sdk/public_headers.cmake\")
  frugal_public_headers(headers \"${PROJECT_SOURCE_DIR}\" \"${frugal_public_headers}\")
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH directory)
    file(INSTALL \"${PROJECT_SOURCE_DIR}/\${header}\"
         DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${frugal_include_dir}/\${directory}\")
  endforeach()" COMPONENT headers)

# --- the command, configurations, documentation -------------------------------------------------
if(TARGET frugal_cli)
  install(TARGETS frugal_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
endif()
install(DIRECTORY presets/ DESTINATION ${CMAKE_INSTALL_DATADIR}/frugal/presets COMPONENT command
        FILES_MATCHING PATTERN "*.toml")
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY samples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation
        FILES_MATCHING PATTERN "0*/twin.cpp" PATTERN "*.toml" PATTERN cli EXCLUDE)
