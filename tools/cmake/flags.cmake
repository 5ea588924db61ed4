# SPDX-License-Identifier: MIT
# Compiler flags that every C file of ours gets.
add_library(storlua_flags INTERFACE)
target_compile_definitions(storlua_flags INTERFACE
  _GNU_SOURCE _FILE_OFFSET_BITS=64 _TIME_BITS=64)
target_compile_options(storlua_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wundef
  -Wvla -Wformat=2 -Wcast-qual -Wwrite-strings -Wpointer-arith
  -Wdouble-promotion -Wnull-dereference -Wimplicit-fallthrough -Wswitch-enum
  -fno-common -fstack-protector-strong -ffunction-sections -fdata-sections)
if(STORLUA_WERROR)
  target_compile_options(storlua_flags INTERFACE -Werror)
endif()
target_link_options(storlua_flags INTERFACE
  -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now)

if(STORLUA_SANITIZE)
  target_compile_options(storlua_flags INTERFACE
    -fsanitize=${STORLUA_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g)
  target_link_options(storlua_flags INTERFACE -fsanitize=${STORLUA_SANITIZE})
else()
  target_compile_options(storlua_flags INTERFACE
    $<$<CONFIG:Release>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
endif()

if(STORLUA_STATIC)
  # Nothing unwinds through C here, and the tables weigh a tenth of our code.
  target_compile_options(storlua_flags INTERFACE
    -fno-asynchronous-unwind-tables)
  target_link_options(storlua_flags INTERFACE -static -s -Wl,-z,noseparate-code)
  include(CheckLinkerFlag)
  set(start_layout ${CMAKE_SOURCE_DIR}/tools/cmake/start.ld)
  check_linker_flag(C "-Wl,-T,${start_layout}" STORLUA_START_LAYOUT)
  if(STORLUA_START_LAYOUT) # GNU ld; others order as they like
    target_link_options(storlua_flags INTERFACE "-Wl,-T,${start_layout}")
  endif()
else()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  target_link_options(storlua_flags INTERFACE -pie)
endif()
