# Writes MAP, the linker's version script of the shared library. It lists the symbols of ARCHIVE, as
# NM prints them, that belong to the public interface: what HEADERS (entries, see
# public_headers.cmake) under ROOT name, directly in namespace frugal. The namespaces inside it,
# what no public header mentions and everything of other libraries stay hidden. Exceptions and casts
# work across the border, since the type information of public classes is in the list.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/public_headers.cmake)

frugal_public_headers(headers ${ROOT} ${HEADERS})
foreach(header IN LISTS headers)
  file(READ ${ROOT}/${header} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\"[^\"\n]*\"" "" text "${text}")
  string(REGEX MATCHALL "[A-Z][A-Za-z0-9]*" words "${text}")
  foreach(word IN LISTS words)
    set(is_public_${word} ON)
  endforeach()
endforeach()

execute_process(COMMAND ${NM} -P -g --defined-only ${ARCHIVE} OUTPUT_VARIABLE text
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "_Z[A-Za-z0-9_]+" symbols "${text}")
list(REMOVE_DUPLICATES symbols)
list(SORT symbols)
set(exported "")
foreach(symbol IN LISTS symbols)
  # Mangled by the Itanium C++ ABI: [what is told of it] N [const] 6frugal <length> <name>...; an
  # operator has two small letters instead of length and name.
  if(NOT symbol MATCHES "^_Z(T[VTIS]|T[hvc][0-9n_]+|GV)?N[KRO]*6frugal([0-9]*)(.*)$")
    continue()
  endif()
  set(name "${CMAKE_MATCH_3}")
  if(CMAKE_MATCH_2)
    string(SUBSTRING "${name}" 0 ${CMAKE_MATCH_2} name)
    if(NOT is_public_${name})
      continue()
    endif()
  endif()
  string(APPEND exported "    ${symbol};\n")
endforeach()
if(NOT exported)
  message(FATAL_ERROR "version_script.cmake: ${ARCHIVE} defines nothing of what the headers name")
endif()
file(WRITE ${MAP} "{\n  global:\n${exported}  local: *;\n};\n")
