# Installs the shared library, looks at its symbols, and uses it by find_package and by pkg-config.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

set(prefix ${SCRATCH}/prefix)
install_component(${prefix} --component headers)
install_component(${prefix} --component shared)
file(GLOB_RECURSE library ${prefix}/*/libfrugal.so.${VERSION})
file(GLOB_RECURSE archives ${prefix}/*.a)
if(NOT library OR archives)
  fail("the shared library and no static one should be installed; there are: ${library} ${archives}")
endif()

string(REGEX MATCH "^[0-9]+\\.[0-9]+" interface ${VERSION})
run("read the library" ${OBJDUMP} -p ${library})
if(NOT run_output MATCHES "SONAME +libfrugal\\.so\\.${interface}\n")
  fail("the name to load it by should be libfrugal.so.${interface}:\n${run_output}")
endif()

# Visible is what is public and directly in namespace frugal: mangled names that go on with the length
# of a name and its capital letter, or with an operator's two small ones.
run("list symbols" ${NM} -D -P --defined-only ${library})
string(REGEX MATCHALL "[^\n]+" symbols "${run_output}")
foreach(symbol IN LISTS symbols)
  if(NOT symbol MATCHES "^_Z([TG][A-Za-z0-9_]+)?N[KRO]*6frugal([0-9]+[A-Z]|[a-z][a-z])" OR
     symbol MATCHES "6frugal[0-9]+(HtmlReport|OneDnn[A-Z]|Eigen[A-Z]|BudgetSearch)")
    fail("this symbol should be hidden: ${symbol}")
  endif()
endforeach()

use_by_find_package(${prefix})
use_by_pkg_config(${prefix})
run("ask what it loads" ${OBJDUMP} -p ${SCRATCH}/build/consumer)
if(NOT run_output MATCHES "NEEDED +libfrugal\\.so\\.${interface}\n" OR
   run_output MATCHES "NEEDED +lib(dnnl|spdlog|png|tomlplusplus)")
  fail("the consumer should need the shared library, and none of its dependencies:\n${run_output}")
endif()
list(LENGTH symbols count)
message(STATUS "${count} visible symbols")
