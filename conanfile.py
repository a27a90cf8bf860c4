"""The program and the library as a package of Conan 2, from the working tree: `conan create .`"""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import load


class Forestcoll(ConanFile):
    name = "forestcoll"
    description = "Throughput-optimal collective-communication schedules for any fabric"
    license = "Apache-2.0"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    exports_sources = (
        "CMakeLists.txt", "cmake/*", "include/*", "src/*", "tools/*", "topologies/*", "docs/*",
        "bench/compare-allreduce.svg", "LICENSE", "*.md",
    )

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include/forestcoll/version.hpp"))
        self.version = re.search(r'kVersion = "([^"]+)"', header).group(1)

    def requirements(self):
        self.requires("fmt/[>=8.1]")
        self.requires("nlohmann_json/[>=3.10]")
        self.requires("pugixml/[>=1.12]")
        self.requires("boost/[>=1.74]")
        self.requires("cli11/[>=2.1]")
        self.requires("coin-clp/[>=1.17]")
        self.requires("coin-lemon/[>=1.3]")
        self.requires("onetbb/[>=2021.5]")
        self.requires("yaml-cpp/[>=0.7]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # nothing is written into the source tree
        toolchain.cache_variables["FORESTCOLL_BUILD_TESTS"] = False
        toolchain.cache_variables["FORESTCOLL_JOIN_ROOMS"] = True
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # The library's own CMake package is used, not one that Conan would make.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "forestcoll")]
        self.cpp_info.libs = ["forestcoll"]
