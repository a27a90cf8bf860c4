# What `cmake --install` writes: the program, the library with its headers and CMake package, the
# bundled topologies and the JSON Schemas.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/forestcoll)
set(data_dir ${CMAKE_INSTALL_DATADIR}/forestcoll)

install(TARGETS forestcoll_cli RUNTIME)
if(FORESTCOLL_MPI)
  install(TARGETS forestcoll_run RUNTIME)
endif()

# The program writes its own manual page and completions; one for another processor cannot be asked.
if(NOT CMAKE_CROSSCOMPILING)
  set(help_dir ${CMAKE_CURRENT_BINARY_DIR}/help)
  add_custom_command(TARGET forestcoll_cli POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory ${help_dir}
    COMMAND forestcoll_cli man > ${help_dir}/forestcoll.1
    COMMAND forestcoll_cli completion bash > ${help_dir}/forestcoll
    COMMAND forestcoll_cli completion zsh > ${help_dir}/_forestcoll
    COMMAND forestcoll_cli completion fish > ${help_dir}/forestcoll.fish VERBATIM)
  install(FILES ${help_dir}/forestcoll.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${help_dir}/forestcoll
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${help_dir}/_forestcoll DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${help_dir}/forestcoll.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(TARGETS forestcoll EXPORT forestcollTargets)
install(DIRECTORY include/forestcoll DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY topologies DESTINATION ${data_dir})
install(DIRECTORY tools/schema DESTINATION ${data_dir} FILES_MATCHING PATTERN "*.json")
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES bench/compare-allreduce.svg DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)

install(EXPORT forestcollTargets NAMESPACE forestcoll:: DESTINATION ${package_dir})
configure_package_config_file(cmake/forestcollConfig.cmake.in forestcollConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(forestcollConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/forestcollConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/forestcollConfigVersion.cmake
              cmake/FindClp.cmake
        DESTINATION ${package_dir})
