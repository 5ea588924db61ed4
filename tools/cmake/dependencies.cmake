# SPDX-License-Identifier: MIT
# Lua and libuv of the distribution, as imported targets.  Headers
# are SYSTEM so that our warning set judges our own code only.
function(storlua_package target module)
  pkg_check_modules(${target} REQUIRED ${module})
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE
    ${${target}_INCLUDE_DIRS})
  if(STORLUA_STATIC)
    target_link_directories(${target} INTERFACE
      ${${target}_STATIC_LIBRARY_DIRS})
    target_link_libraries(${target} INTERFACE ${ARGN}
      ${${target}_STATIC_LIBRARIES})
  else()
    target_link_directories(${target} INTERFACE ${${target}_LIBRARY_DIRS})
    target_link_libraries(${target} INTERFACE ${${target}_LIBRARIES})
  endif()
endfunction()

if(STORLUA_STATIC)
  storlua_package(storlua_uv libuv-static)
else()
  storlua_package(storlua_uv libuv)
endif()
storlua_package(storlua_lua lua5.4)

# Pure Lua libraries that go into the executable beside our own.
find_file(STORLUA_ARGPARSE argparse.lua
  PATHS /usr/share/lua/5.4 /usr/local/share/lua/5.4 NO_DEFAULT_PATH REQUIRED)
find_file(STORLUA_DKJSON dkjson.lua
  PATHS /usr/share/lua/5.4 /usr/local/share/lua/5.4 NO_DEFAULT_PATH REQUIRED)
