# SPDX-License-Identifier: MIT
# Workbooks are written by a module of its own, built where libxlsxwriter is
# and loaded on use: linked in, the library doubles the time to start, and
# there is no static one.
if(STORLUA_STATIC)
  return()
endif()
pkg_check_modules(xlsxwriter IMPORTED_TARGET xlsxwriter)
if(NOT xlsxwriter_FOUND)
  message(STATUS "no libxlsxwriter: workbooks (.xlsx) cannot be written")
  return()
endif()
add_library(storlua_xlsx MODULE bindings/xlsx/xlsx.c)
# Its symbols lua_* are those of the program that loads it.
target_include_directories(storlua_xlsx SYSTEM PRIVATE
  ${storlua_lua_INCLUDE_DIRS})
target_link_libraries(storlua_xlsx PRIVATE storlua_flags PkgConfig::xlsxwriter)
set_target_properties(storlua_xlsx PROPERTIES PREFIX "")
install(TARGETS storlua_xlsx
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/storlua)
