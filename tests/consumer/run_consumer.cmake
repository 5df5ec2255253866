# Installs BUILD into SCRATCH/prefix, then configures, builds and runs this directory against it.
file(REMOVE_RECURSE ${SCRATCH})
set(prefix ${SCRATCH}/prefix)

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "consumer: to ${what} failed (${result}):\n${output}")
  endif()
endfunction()

run("install the package" ${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${prefix})

file(GLOB_RECURSE headers RELATIVE ${prefix}/include/frugal ${prefix}/include/frugal/*.h)
foreach(header IN LISTS headers)
  file(STRINGS ${prefix}/include/frugal/${header} includes REGEX "^#include")
  if(includes MATCHES "toml\\+\\+|Eigen/|dnnl|spdlog|nlohmann|catch2|zlib|CLI/|mpi\\.h")
    message(FATAL_ERROR "consumer: the installed ${header} includes a header of another library")
  endif()
endforeach()
if(headers MATCHES "sdk/backend/(onednn|eigen)/")
  message(FATAL_ERROR "consumer: a private header of a backend was installed")
endif()

run("configure" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${SCRATCH}/build -G ${GENERATOR}
    -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS}
    -DCMAKE_PREFIX_PATH=${prefix})
run("build" ${CMAKE_COMMAND} --build ${SCRATCH}/build)
run("run" ${SCRATCH}/build/consumer)
