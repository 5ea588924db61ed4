# SPDX-License-Identifier: MIT
# Lua and libuv of the distribution, as imported targets.  Their archives go
# into the executable where there are any: three shared objects less to load
# halve the time to start, and the library can be embedded compiled, since the
# Lua that runs it is the one that compiled it.  Headers are SYSTEM so that
# our warning set judges our own code only.
option(STORLUA_BUNDLE "Link Lua and libuv into the executable" ON)

function(storlua_package target module archive)
  pkg_check_modules(${target} REQUIRED ${module})
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE
    ${${target}_INCLUDE_DIRS})
  pkg_get_variable(directory ${module} libdir)
  find_library(${target}_archive ${archive} HINTS ${directory})
  mark_as_advanced(${target}_archive)
  if(${target}_archive AND (STORLUA_BUNDLE OR STORLUA_STATIC))
    target_link_libraries(${target} INTERFACE ${${target}_archive}
      Threads::Threads ${CMAKE_DL_LIBS} m rt)
  elseif(STORLUA_STATIC)
    message(FATAL_ERROR "a static build needs ${archive}")
  else()
    target_link_directories(${target} INTERFACE ${${target}_LIBRARY_DIRS})
    target_link_libraries(${target} INTERFACE ${${target}_LIBRARIES})
  endif()
endfunction()

storlua_package(storlua_uv libuv libuv_a.a)
storlua_package(storlua_lua lua5.4 liblua5.4.a)

option(STORLUA_BLKID "Use libblkid where it is installed" ON)
option(STORLUA_LIBURING "Use liburing where it is installed" ON)

# What lies on a block device; without it types, labels and UUIDs come from
# the mount table and from udev's links only.
pkg_check_modules(storlua_blkid_found QUIET blkid)
add_library(storlua_blkid INTERFACE)
if(STORLUA_BLKID AND storlua_blkid_found_FOUND)
  storlua_package(storlua_blkid_package blkid libblkid.a)
  target_link_libraries(storlua_blkid INTERFACE storlua_blkid_package)
  target_compile_definitions(storlua_blkid INTERFACE STORLUA_HAVE_BLKID=1)
endif()

# The engine io_uring and storlua.ring; without it a build has neither.
pkg_check_modules(storlua_uring_found QUIET liburing)
add_library(storlua_uring INTERFACE)
if(STORLUA_LIBURING AND storlua_uring_found_FOUND)
  storlua_package(storlua_uring_package liburing liburing.a)
  target_link_libraries(storlua_uring INTERFACE storlua_uring_package)
  target_compile_definitions(storlua_uring INTERFACE STORLUA_HAVE_LIBURING=1)
endif()

# Pure Lua libraries that go into the executable beside our own: of the sysroot,
# or of this machine.
find_file(STORLUA_ARGPARSE argparse.lua PATHS /usr/share/lua/5.4
  /usr/local/share/lua/5.4 NO_DEFAULT_PATH CMAKE_FIND_ROOT_PATH_BOTH REQUIRED)
find_file(STORLUA_DKJSON dkjson.lua PATHS /usr/share/lua/5.4
  /usr/local/share/lua/5.4 NO_DEFAULT_PATH CMAKE_FIND_ROOT_PATH_BOTH REQUIRED)
