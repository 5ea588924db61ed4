# SPDX-License-Identifier: MIT
# One unit per instruction set, chosen at run time.  -O3 because GCC 12 leaves
# the four-lane intrinsics loops rolled at -O2, which halves their speed.
function(storlua_kernel source)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${source})
    set_source_files_properties(${source} PROPERTIES
      COMPILE_OPTIONS "-O3;${ARGN}")
  endif()
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
  storlua_kernel(core/io/stamp_aesni.c -maes -mssse3 -msse4.1)
  storlua_kernel(core/io/stamp_vaes.c -mvaes -mavx512f -mavx512bw -mavx512vl
    -maes)
  storlua_kernel(core/memory/kernel_avx2.c -mavx2)
  storlua_kernel(core/memory/pattern_avx2.c -mavx2)
  storlua_kernel(core/memory/pattern_sse2.c)
  storlua_kernel(core/memory/pattern_avx512.c -mavx512f
    -mprefer-vector-width=512)
  storlua_kernel(core/memory/kernel_avx512.c -mavx512f -mprefer-vector-width=512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  storlua_kernel(core/io/stamp_armv8.c -march=armv8-a+crypto)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^arm")
  storlua_kernel(core/memory/kernel_neon.c -mfpu=neon)
  storlua_kernel(core/memory/pattern_neon.c -mfpu=neon)
endif()
# Loops that must stay as they are written.
storlua_kernel(core/memory/kernel_c.c -fno-tree-vectorize
  -fno-tree-slp-vectorize)
storlua_kernel(core/memory/kernel_lm.c -fno-tree-vectorize
  -fno-tree-slp-vectorize)
# GCC packs the table look-ups of this one into vectors, which is slower.
storlua_kernel(core/io/stamp_scalar.c -fno-tree-vectorize
  -fno-tree-slp-vectorize -funroll-loops)

# Pairs of counters are not worth a vector: moving them in and out costs more
# instructions than it saves.
set_source_files_properties(core/io/workload_loop.c
  core/io/workload_queue.c PROPERTIES
  COMPILE_OPTIONS -fno-tree-slp-vectorize)

# What never runs per operation is small rather than fast in a board's file.
if(STORLUA_STATIC)
  file(GLOB calm_sources core/device/*.c core/run/*.c)
  set_source_files_properties(${calm_sources} PROPERTIES COMPILE_OPTIONS -Os)
endif()
