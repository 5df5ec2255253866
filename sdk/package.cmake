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
  target_include_directories(frugal_${kind} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${frugal_include_dir}>)
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
install(DIRECTORY ${frugal_user_include_dir}/frugal/ DESTINATION ${frugal_include_dir}
        COMPONENT headers)

# --- the command, configurations, documentation -------------------------------------------------
if(TARGET frugal_cli)
  install(TARGETS frugal_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
endif()
install(DIRECTORY presets/ DESTINATION ${CMAKE_INSTALL_DATADIR}/frugal/presets COMPONENT command
        FILES_MATCHING PATTERN "*.toml")

# The program tells of itself: its manual page, completion for shells, and every key.
function(frugal_install_printed arguments directory name)
  install(CODE "
    file(MAKE_DIRECTORY \"${PROJECT_BINARY_DIR}/printed\")
    execute_process(COMMAND \"$<TARGET_FILE:frugal_cli>\" ${arguments}
                    OUTPUT_FILE \"${PROJECT_BINARY_DIR}/printed/${name}\" COMMAND_ERROR_IS_FATAL ANY)
    file(INSTALL \"${PROJECT_BINARY_DIR}/printed/${name}\"
         DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${directory}\")" COMPONENT command)
endfunction()
if(TARGET frugal_cli)
  frugal_install_printed(man ${CMAKE_INSTALL_MANDIR}/man1 frugal.1)
  frugal_install_printed(reference ${CMAKE_INSTALL_DOCDIR} reference.md)
  frugal_install_printed("completion bash" ${CMAKE_INSTALL_DATADIR}/bash-completion/completions frugal)
  frugal_install_printed("completion zsh" ${CMAKE_INSTALL_DATADIR}/zsh/site-functions _frugal)
  frugal_install_printed("completion fish" ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d frugal.fish)
endif()
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY samples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT documentation
        FILES_MATCHING PATTERN "*.toml" PATTERN cli EXCLUDE PATTERN 020_error_gallery EXCLUDE)
install(FILES tests/consumer/project/main.cpp DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
        RENAME own_data.cpp COMPONENT documentation)

# --- a package of Debian -------------------------------------------------------------------------
# `./run package` builds it. Whoever links the static library links what it is made of, too.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
add_custom_target(frugal_package DEPENDS frugal_${frugal_kind})
if(TARGET frugal_cli)
  add_dependencies(frugal_package frugal_cli)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT documentation)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "frugal authors")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "It plans every byte before it allocates any, then trains
exactly that plan, on oneDNN's kernels. This package holds the frugal command,
the library with its headers, and examples.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, cmake | pkg-config")
if(frugal_kind STREQUAL shared)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
else()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libdnnl-dev, libspdlog-dev, zlib1g-dev, libpng-dev, libxxhash-dev, libtomlplusplus-dev")
endif()
include(CPack)
