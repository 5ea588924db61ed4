# SPDX-License-Identifier: MIT
# Toolchain of tools/cross-build; the presets cross-* set STORLUA_CROSS_ARCH and
# CMAKE_SYSROOT. Libraries come from the sysroot only, programs from here.
set(CMAKE_SYSTEM_NAME Linux)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES STORLUA_CROSS_ARCH
  CMAKE_SYSROOT)

if(STORLUA_CROSS_ARCH STREQUAL "armhf")
  set(CMAKE_SYSTEM_PROCESSOR armv7l)
  set(triplet arm-linux-gnueabihf)
  set(CMAKE_C_COMPILER ${triplet}-gcc)
  find_program(STORLUA_EMULATOR qemu-arm-static)
elseif(STORLUA_CROSS_ARCH STREQUAL "arm64")
  set(CMAKE_SYSTEM_PROCESSOR aarch64)
  set(triplet aarch64-linux-gnu)
  set(CMAKE_C_COMPILER ${triplet}-gcc)
  find_program(STORLUA_EMULATOR qemu-aarch64-static)
else()
  set(CMAKE_SYSTEM_PROCESSOR i686)
  set(triplet i386-linux-gnu)
  set(CMAKE_C_COMPILER gcc)
  set(libgcc "${CMAKE_SYSROOT}/usr/lib/gcc/i686-linux-gnu/12")
  set(flags "-m32 -B${libgcc} -isystem ${CMAKE_SYSROOT}/usr/include")
  set(link_flags "-L${libgcc}")
  find_program(STORLUA_EMULATOR env) # it runs as it is
endif()
if(STORLUA_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${STORLUA_EMULATOR}")
endif()

# Without these gcc takes the C library of its own package.
set(libraries "${CMAKE_SYSROOT}/usr/lib/${triplet}")
set(CMAKE_C_FLAGS_INIT
  "-B${libraries} ${flags} -isystem ${CMAKE_SYSROOT}/usr/include/${triplet}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${link_flags} -L${libraries}")

set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR}
  "${libraries}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
