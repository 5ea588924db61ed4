# SPDX-License-Identifier: MIT
# The executable is complete by itself; the sources beside it are for reading,
# the type definitions for editors.
install(TARGETS storlua RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY lua scripts DESTINATION ${CMAKE_INSTALL_DATADIR}/storlua
  USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.lua")
install(FILES packaging/storlua.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.md")
