# What the tests of this directory share.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})

function(fail)
  message(FATAL_ERROR "consumer: " ${ARGN})
endfunction()

# run(<what> <command>...) leaves its output in run_output.
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output
                  WORKING_DIRECTORY ${SCRATCH})
  if(NOT result EQUAL 0)
    fail("to ${what} failed (${result}):\n${output}")
  endif()
  set(run_output "${output}" PARENT_SCOPE)
endfunction()

function(install_component prefix)
  run("install" ${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${prefix} ${ARGN})
endfunction()

# Configures project/ with the arguments, into SCRATCH/build.
function(configure_project)
  run("configure" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${SCRATCH}/build
      -G ${GENERATOR} -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_COMPILER=${COMPILER}
      -DCMAKE_CXX_FLAGS=${FLAGS} -DFRUGAL_VERSION=${VERSION} ${ARGN})
  set(run_output "${run_output}" PARENT_SCOPE)
endfunction()

# Builds project/ against what is installed under `prefix`, and runs it.
function(use_by_find_package prefix)
  configure_project(-DCMAKE_PREFIX_PATH=${prefix} ${ARGN})
  run("build by find_package" ${CMAKE_COMMAND} --build ${SCRATCH}/build)
  run("run what find_package built" ${SCRATCH}/build/consumer)
endfunction()

# Compiles the program with what pkg-config says alone, and runs it.
function(use_by_pkg_config prefix)
  file(GLOB_RECURSE description ${prefix}/*/frugal.pc)
  cmake_path(GET description PARENT_PATH directory)
  run("ask pkg-config" ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${directory}
      pkg-config --cflags --libs "frugal = ${VERSION}")
  separate_arguments(arguments UNIX_COMMAND "${FLAGS} -std=c++20 -o by_pkg_config
    ${CMAKE_CURRENT_LIST_DIR}/project/main.cpp ${run_output}")
  run("build by pkg-config" ${COMPILER} ${arguments})
  cmake_path(GET directory PARENT_PATH libraries)
  run("run what pkg-config built" ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries}
      ${SCRATCH}/by_pkg_config)
endfunction()
