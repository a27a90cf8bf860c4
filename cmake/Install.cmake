# What `cmake --install` writes: the program, the library with its headers and CMake package, the
# bundled topologies and the JSON Schemas.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/forestcoll)
set(data_dir ${CMAKE_INSTALL_DATADIR}/forestcoll)

install(TARGETS forestcoll_cli RUNTIME)
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
