#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Umbel as its users meet it, by each way of docs/install.md: the blocks there that are marked <!-- package: NAME -->
are used as they stand. Nowhere may it bring a test, a program or a flag.

    package.py PROJECT_ROOT -- COMPILER...
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from tap import Tap, split_command

# config.hpp: the glue is what is tested here, not the library.
PROGRAM = """#include <umbel/config.hpp>
#include <umbel/version.hpp>
#if __cplusplus < 202002L
#error "not C++20"
#endif
int main() { return UMBEL_VERSION_MAJOR < 0; }
"""
WITH_BOOST = "#include <boost/version.hpp>\n" + PROGRAM
# All that clang warns of, but of newer C++: about this file, and none about ours.
EVERYTHING = ("-Weverything", "-Werror", "-Wno-c++98-compat", "-Wno-c++98-compat-pedantic")
WITH_EVERYTHING = """#include <umbel/bare.hpp>
using tokens = umbel::tensor<float, umbel::axes::token<3>, umbel::axes::hidden<8>>;
int main() {
  const tokens x{};
  return (x | umbel::softmax<umbel::axes::hidden>)(2, 7) > 0.0f ? 0 : 1;
}
"""
MESON_PROJECT = "project('user', 'cpp', default_options: ['cpp_std=c++20', 'werror=true', 'warning_level=3'])\n"
CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.15)
project(user CXX)
add_executable(program program.cpp)
add_executable(bare bare.cpp)
%starget_link_libraries(bare PRIVATE umbel::bare)
"""
NO_BOOST = ["-DCMAKE_DISABLE_FIND_PACKAGE_Boost=TRUE", "-DBoost_INCLUDE_DIR=Boost_INCLUDE_DIR-NOTFOUND",
            "-DCMAKE_IGNORE_PATH=/usr/include;/usr/local/include"]
EXAMPLE_URL = "file:///path/to/umbel"


class Package:
    def __init__(self, tap, root, folder, compiler):
        self.tap, self.root, self.folder, self.compiler = tap, root, folder, compiler
        self.environment = {key: value for key, value in os.environ.items() if key not in ("CXXFLAGS", "LDFLAGS")}
        self.environment["CXX"] = " ".join(compiler)
        self.page = (root / "docs/install.md").read_text()
        self.clang = next(filter(None, map(shutil.which, ("clang++", "clang++-14", "clang++-19"))), None)

    def run(self, *command, **environment):
        """(did it end well?, what it said); commands after a None, one after another, end with the first that fails."""
        output = ""
        while command:
            end = command.index(None) if None in command else len(command)
            now, command = command[:end], command[end + 1:]
            run = subprocess.run(list(map(str, now)), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                 env={**self.environment, **environment})
            output += run.stdout + run.stderr
            if run.returncode != 0:
                return False, output
        return True, output

    def block(self, name):
        found = re.search(rf"^<!-- package: {name} -->\n```\w+\n(.*?)^```$", self.page, re.M | re.S)
        return found[1] if found else f"no block {name} in docs/install.md"

    def repository(self):
        """A repository of git with what a user's build needs, as it is now; its address."""
        there = self.folder / "repository"
        there.mkdir()
        for name in ("CMakeLists.txt", "meson.build", "meson_options.txt"):
            shutil.copy(self.root / name, there)
        for name in ("cmake", "include", "tools"):
            shutil.copytree(self.root / name, there / name)
        git = ["git", "-C", there, "-c", "user.name=test", "-c", "user.email=test@localhost"]
        done, output = self.run(*git, "init", "-q", None, *git, "add", ".", None, *git, "commit", "-q", "-m", "all")
        self.tap.check("a repository to fetch from", done, output)
        return f"file://{there}"

    # ---- Meson and pkg-config --------------------------------------------------------------------------
    def meson_user(self, name, program=PROGRAM, flags=()):
        user = self.folder / name
        user.mkdir()
        arguments = f"add_project_arguments({list(flags)}, language: 'cpp')\n"
        (user / "meson.build").write_text(MESON_PROJECT + arguments + self.block("meson"))
        (user / "program.cpp").write_text(program)
        return user

    def install_by_meson(self, prefix):
        build = self.folder / "build"
        done, output = self.run("meson", "setup", build, self.root, f"--prefix={prefix}", "-Dtests=disabled",
                                "-Dbench=disabled", "-Dexamples=disabled", None, "meson", "install", "-C", build)
        self.tap.check("Meson installs", done, output)

    def use_pkg_config(self, prefix):
        where = {"PKG_CONFIG_PATH": f"{prefix}/share/pkgconfig"}
        version = self.run(sys.executable, self.root / "tools/version.py")[1].strip()
        said = self.run("pkg-config", "--modversion", "umbel", **where)[1].strip()
        self.tap.check("pkg-config knows the version", said == version, f"{said}, want {version}")
        user = self.meson_user("pkg_config")
        done, output = self.run("meson", "setup", user / "build", user, None, "meson", "compile", "-C", user / "build",
                                **where)
        self.tap.check("Meson finds the installed headers", done, output)
        self.use_everything("Meson and pkg-config", lambda user: ("meson", "setup", user / "build", user, None,
                                                                  "meson", "compile", "-C", user / "build"), **where)
        flags = self.run("pkg-config", "--cflags", "umbel", **where)[1].split()
        self.use_everything("pkg-config", lambda user: (self.clang, "-std=c++20", *EVERYTHING, *flags, "-fsyntax-only",
                                                        user / "program.cpp"))

    def use_standard_prefix(self):
        """-isystem /usr/include would come before the headers of the standard library."""
        for prefix in "/usr", "/usr/local":
            build = self.folder / f"standard_{prefix.count('/')}"
            done, output = self.run("meson", "setup", build, self.root, f"--prefix={prefix}", "-Dtests=disabled",
                                    "-Dbench=disabled", "-Dexamples=disabled")
            file = build / "meson-private/umbel.pc"
            text = file.read_text() if file.exists() else output
            self.tap.check(f"pkg-config in {prefix} names no system include", done and "-isystem" not in text, text)

    def fetch_by_wrap(self, user, url):
        (user / "subprojects").mkdir()
        wrap = (self.root / "docs/umbel.wrap").read_text().replace(EXAMPLE_URL, url)
        (user / "subprojects/umbel.wrap").write_text(wrap)

    def use_wrap(self, url):
        user = self.meson_user("wrap")
        build = user / "build"
        self.fetch_by_wrap(user, url)
        done, output = self.run("meson", "setup", build, user, "--wrap-mode=forcefallback", None,
                                "meson", "compile", "-C", build)
        self.tap.check("Meson fetches it by the wrap", done, output)
        if not done:
            return
        self.tap.check("the subproject adds no -march", "-march" not in (build / "build.ninja").read_text())
        tests = self.run("meson", "test", "-C", build, "--list")[1]
        self.tap.check("the subproject adds no test", "No tests defined" in tests, tests)
        targets = self.run("meson", "introspect", "--targets", build)[1]
        self.tap.check("the subproject adds no program", targets.count('"id"') == 1, targets)
        self.use_everything("Meson's subproject", lambda user: ("meson", "setup", user / "build", user,
                                                                "--wrap-mode=forcefallback", None,
                                                                "meson", "compile", "-C", user / "build"),
                            prepare=lambda user: self.fetch_by_wrap(user, url))

    def use_everything(self, way, commands, prepare=lambda user: None, **environment):
        """All warnings of clang are errors in a program of the user's, which is one for Meson and for CMake."""
        name = f"{way}: clang++ -Weverything -Werror"
        if self.clang is None:
            return self.tap.skip(name, "no clang++")
        user = self.meson_user(re.sub(r"\W", "_", name), WITH_EVERYTHING, EVERYTHING)
        prepare(user)
        done, output = self.run(*commands(user), CXX=self.clang, **environment)
        self.tap.check(name, done, output)

    # ---- CMake -----------------------------------------------------------------------------------------
    def cmake_user(self, name, block):
        user = self.folder / name
        user.mkdir()
        (user / "CMakeLists.txt").write_text(CMAKE_PROJECT % block)
        (user / "program.cpp").write_text(WITH_BOOST)
        (user / "bare.cpp").write_text(PROGRAM)
        return user

    def configure(self, user, *options):
        return self.run("cmake", "-G", "Ninja", "-S", user, "-B", user / "build", *options)

    def use_cmake(self, name, block, *options, prepare=lambda user: None):
        user = self.cmake_user(name, block)
        prepare(user)
        done, output = self.configure(user, *options)
        if done:
            done, output = self.run("ninja", "-C", user / "build")
        self.tap.check(f"CMake: {name}", done, output)
        if not done:
            return
        rules = (user / "build/build.ninja").read_text()
        flags = {flag for line in re.findall(r"^  (?:FLAGS|DEFINES) = (.*)$", rules, re.M) for flag in line.split()}
        self.tap.check(f"CMake: {name}: C++20 and no other flag", flags == {"-std=gnu++20"}, " ".join(flags))
        programs = re.findall(r"^# Link the executable (\S+)", rules, re.M)
        self.tap.check(f"CMake: {name}: no program of its own", sorted(programs) == ["bare", "program"], str(programs))

    def use_cmake_with_everything(self, name, block, *options, prepare=lambda user: None):
        def write(user):
            prepare(user)
            (user / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.15)\nproject(user CXX)\n"
                                                 f"add_compile_options({' '.join(EVERYTHING)})\n"
                                                 f"add_executable(program program.cpp)\n{block}")
        self.use_everything(f"CMake: {name}", lambda user: ("cmake", "-G", "Ninja", "-S", user, "-B", user / "build", *options,
                                                            None, "ninja", "-C", user / "build"), write)

    def install_by_cmake(self, prefix):
        build = self.folder / "cmake"
        done, output = self.run("cmake", "-G", "Ninja", "-S", self.root, "-B", build, None, "cmake", "--install", build,
                                "--prefix", prefix)
        self.tap.check("CMake installs", done, output)

    def lack_boost(self, prefix):
        """Who links with umbel::umbel is told what is missing; umbel::bare does without."""
        found = f"-DCMAKE_PREFIX_PATH={prefix}"
        both = self.cmake_user("no_boost", self.block("find_package"))
        done, output = self.configure(both, found, *NO_BOOST)
        self.tap.check("CMake: says that Boost is missing", not done and "umbel::needs_the_headers_of_Boost" in output
                       and "-DBoost_INCLUDE_DIR=" in output, output)
        bare = self.cmake_user("bare", "find_package(umbel REQUIRED)\n")
        done, output = self.configure(bare, found, *NO_BOOST)
        self.tap.check("CMake: umbel::bare without Boost", done, output)

    def use_other_version(self, prefix):
        user = self.cmake_user("other_version", "find_package(umbel 99 REQUIRED)\n")
        done, output = self.configure(user, f"-DCMAKE_PREFIX_PATH={prefix}")
        self.tap.check("CMake: refuses another version", not done and "99" in output, output)

    # ---- one header ------------------------------------------------------------------------------------
    def use_one_header(self):
        """The commands of docs/install.md, with this compiler and all warnings as errors."""
        (self.folder / "one_header").mkdir()
        (self.folder / "one_header/umbel").symlink_to(self.root)
        compiler = " ".join(map(shlex.quote, [*self.compiler, "-Wall", "-Wextra", "-Wconversion", "-Werror"]))
        done, output = self.run("sh", "-ec", 'cd "$1"\n' + self.block("one_header").replace("g++", compiler), "sh", self.folder / "one_header")
        self.tap.check("one header, one file, one command: 0.5", done and output == "0.5\n", output)


def main():
    (root,), compiler = split_command(sys.argv[1:])
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        package = Package(tap, pathlib.Path(root).resolve(), pathlib.Path(name), compiler)
        by_meson, by_cmake = package.folder / "by_meson", package.folder / "by_cmake"
        package.install_by_meson(by_meson)
        package.use_pkg_config(by_meson)
        package.use_standard_prefix()
        package.use_one_header()
        has_cmake, has_git = shutil.which("cmake"), shutil.which("git")
        url = package.repository() if has_git else ""
        if has_git:
            package.use_wrap(url)
        else:
            tap.skip("Meson fetches it by the wrap", "no git")
        if not has_cmake:
            tap.skip("CMake", "no cmake")
            return tap.finish()
        package.install_by_cmake(by_cmake)
        found = package.block("find_package")
        package.use_cmake("find_package after meson install", found, f"-DCMAKE_PREFIX_PATH={by_meson}")
        package.use_cmake_with_everything("find_package", found, f"-DCMAKE_PREFIX_PATH={by_meson}")
        package.use_cmake("find_package after cmake --install", found, f"-DCMAKE_PREFIX_PATH={by_cmake}")
        package.lack_boost(by_cmake)
        package.use_other_version(by_cmake)
        for use in package.use_cmake, package.use_cmake_with_everything:
            use("add_subdirectory", package.block("add_subdirectory"), prepare=lambda user: (
                (user / "third_party").mkdir(), (user / "third_party/umbel").symlink_to(package.root)))
        if has_git:
            package.use_cmake("FetchContent", package.block("FetchContent").replace(EXAMPLE_URL, url))
        else:
            tap.skip("CMake: FetchContent", "no git")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
