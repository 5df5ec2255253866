cmake_policy(VERSION 3.25)

# frugal_public_headers(<variable> <root> <header>...)
#
# The headers of the public interface, as paths from the root of the repository: those named, and
# whatever they include, so that no installed header includes one that is not.
function(frugal_public_headers variable root)
  set(waiting ${ARGN})
  set(found "")
  while(waiting)
    list(POP_FRONT waiting header)
    if(header IN_LIST found)
      continue()
    endif()
    list(APPEND found ${header})
    file(STRINGS ${root}/${header} lines REGEX "^#include \"")
    list(TRANSFORM lines REPLACE "^#include \"([^\"]+)\".*" "\\1")
    list(APPEND waiting ${lines})
  endwhile()
  list(SORT found)
  set(${variable} ${found} PARENT_SCOPE)
endfunction()
