#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The files for package managers that are not here: PlatformIO, Arduino, Zephyr, ESP-IDF. Their syntax, the paths and
the version in them, the blocks of docs/install.md, and CMake with stand-ins for the commands of ESP-IDF and Zephyr.

    package_files.py PROJECT_ROOT -- COMPILER...
"""
import configparser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from tap import Tap, split_command

try:
    import yaml
except ImportError:
    yaml = None

# https://arduino.github.io/arduino-cli/latest/library-specification
ARDUINO_WANTS = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"}
ARDUINO_CATEGORIES = {"Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing",
                      "Data Storage", "Data Processing", "Other"}
KCONFIG = re.compile(r"^(#.*|config [A-Z0-9_]+|\t(bool|depends on|select|default|help)( .+)?|\t  .+|)$")

# What these systems define before they read our files, and what is expected of ours after.
ESP_IDF = """cmake_minimum_required(VERSION 3.16)
project(firmware CXX)
set(ESP_PLATFORM 1)
function(idf_component_register)
  cmake_parse_arguments(arg "" "" "SRCS;INCLUDE_DIRS;REQUIRES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${arg_INCLUDE_DIRS}/umbel/bare.hpp")
    message(FATAL_ERROR "idf_component_register(${ARGN})")
  endif()
  set_property(GLOBAL PROPERTY registered TRUE)
endfunction()
add_subdirectory("%s" umbel)
get_property(registered GLOBAL PROPERTY registered)
if(NOT registered OR TARGET umbel::bare)
  message(FATAL_ERROR "the branch of ESP-IDF was not taken, or not left")
endif()
"""
# ESP-IDF first reads it as a script, where targets and projects are errors, and registering ends the file.
ESP_IDF_SCRIPT = """set(ESP_PLATFORM 1)
macro(idf_component_register)
  set(registered TRUE)
  return()
endmacro()
function(read_component)
  include("%s/CMakeLists.txt")
endfunction()
read_component()
"""
ZEPHYR = """cmake_minimum_required(VERSION 3.20)
project(firmware CXX)
function(zephyr_include_directories directory)
  if(NOT EXISTS "${directory}/umbel/bare.hpp")
    message(FATAL_ERROR "zephyr_include_directories(${directory})")
  endif()
  set_property(GLOBAL PROPERTY included TRUE)
endfunction()
add_subdirectory("%s/zephyr" umbel)
get_property(included GLOBAL PROPERTY included)
if(CONFIG_UMBEL AND NOT included OR included AND NOT CONFIG_UMBEL)
  message(FATAL_ERROR "CONFIG_UMBEL=${CONFIG_UMBEL}, included: ${included}")
endif()
"""
PROGRAM = """#include <umbel.hpp>
constexpr umbel::tensor<float, umbel::axes::hidden<2>> x{1, 2};
static_assert(x(1) == 2);
"""


class Files:
    def __init__(self, tap, root, folder, compiler):
        self.tap, self.root, self.folder, self.compiler = tap, root, folder, compiler
        self.page = (root / "docs/install.md").read_text()
        self.version = self.run(sys.executable, root / "tools/version.py")[1].strip()

    def run(self, *command, **options):
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
        return run.returncode == 0, run.stdout + run.stderr

    def block(self, name):
        return re.search(rf"^<!-- package: {name} -->\n```\w+\n(.*?)^```$", self.page, re.M | re.S)[1]

    def same_version(self, name, found):
        self.tap.check(f"{name}: the version", found == self.version,
                       f"{found}, want {self.version}: tools/version.py --write")

    def read_yaml(self, name, text):
        """What the YAML says; None where there is no parser, or it is wrong."""
        if yaml is None:
            self.tap.skip(f"{name}: YAML", "no PyYAML (python3-yaml)")
            return None
        try:
            value = yaml.safe_load(text)
            self.tap.check(f"{name}: YAML", isinstance(value, dict), str(value))
            return value
        except yaml.YAMLError as error:
            self.tap.check(f"{name}: YAML", False, str(error))
            return None

    def platformio(self):
        try:
            library = json.loads((self.root / "library.json").read_text())
        except json.JSONDecodeError as error:
            return self.tap.check("library.json: JSON", False, str(error))
        self.same_version("library.json", library["version"])
        include = self.root / library["build"]["includeDir"]
        self.tap.check("library.json: its header is there", (include / library["headers"]).is_file())
        # In the library's root PlatformIO would compile every .cpp.
        self.tap.check("library.json: there is nothing to compile in srcDir",
                       not list((self.root / library["build"]["srcDir"]).rglob("*.cpp")))
        missing = [name for name in library["export"]["include"] if not (self.root / name).exists()]
        self.tap.check("library.json: what it exports is there", not missing, " ".join(missing))
        project = configparser.ConfigParser()
        project.read_string(self.block("platformio"))
        standard = library["build"]["flags"] + [" ".join(library["build"]["unflags"])]
        said = [project["env:board"]["build_flags"], project["env:board"]["build_unflags"]]
        self.tap.check("library.json: flags as in docs/install.md", said == standard, f"{said}, want {standard}")

    def arduino(self):
        lines = (self.root / "library.properties").read_text().splitlines()
        pairs = [line.partition("=") for line in lines]
        properties = {key: value for key, equals, value in pairs if equals and key and value}
        self.tap.check("library.properties: a key and a value a line", len(properties) == len(lines), "\n".join(lines))
        self.tap.check("library.properties: all that Arduino wants", set(properties) == ARDUINO_WANTS | {"includes"},
                       str(set(properties) ^ (ARDUINO_WANTS | {"includes"})))
        self.tap.check("library.properties: a category of Arduino's", properties.get("category") in ARDUINO_CATEGORIES)
        self.same_version("library.properties", properties.get("version"))
        (self.folder / "umbel").symlink_to(self.root)
        done, output = self.run("sh", "-ec", self.block("arduino"), cwd=self.folder)
        self.tap.check("Arduino: the library is made", done, output)
        made = self.folder / "Umbel"
        self.tap.check("Arduino: with the header that it names", (made / "src" / properties.get("includes", "")).is_file()
                       and (made / "library.properties").is_file())
        (self.folder / "sketch.cpp").write_text(PROGRAM)
        done, output = self.run(*self.compiler, "-std=c++20", "-fsyntax-only", "-I", made / "src",
                                self.folder / "sketch.cpp")
        self.tap.check("Arduino: a sketch includes it", done, output)

    def esp_idf(self):
        component = self.read_yaml("idf_component.yml", (self.root / "idf_component.yml").read_text())
        if component:
            self.same_version("idf_component.yml", component.get("version"))
            self.tap.check("idf_component.yml: what it says", {"description", "license"} <= set(component)
                           and list(component.get("dependencies", {})) == ["idf"], str(component))
        self.read_yaml("docs/install.md: ESP-IDF", self.block("esp_idf"))

    def zephyr(self):
        module = self.read_yaml("zephyr/module.yml", (self.root / "zephyr/module.yml").read_text())
        if module:
            build = module.get("build", {})
            self.tap.check("zephyr/module.yml: its paths are there",
                           (self.root / build.get("cmake", "-") / "CMakeLists.txt").is_file() and
                           (self.root / build.get("kconfig", "-")).is_file(), str(module))
        self.read_yaml("docs/install.md: Zephyr", self.block("zephyr_west"))
        kconfig = (self.root / "zephyr/Kconfig").read_text().splitlines()
        wrong = [line for line in kconfig if not KCONFIG.match(line)]
        self.tap.check("zephyr/Kconfig: syntax", not wrong, "\n".join(wrong))
        known = {line.split()[1] for line in kconfig if line.startswith("config ")}
        asked = re.findall(r"^CONFIG_(UMBEL\w*)=y$", self.block("zephyr_conf"), re.M)
        self.tap.check("docs/install.md: an option of zephyr/Kconfig", set(asked) == known, f"{asked}, {known}")

    def addresses(self):
        """The project has no public address yet, and no file makes one up."""
        names = ["README.md", "CITATION.cff", "library.json", "library.properties", "idf_component.yml", "docs/install.md", "docs/umbel.wrap"]
        wrong = [name for name in names if re.search(r"\bexample\.(?:org|com|net)\b", (self.root / name).read_text())]
        self.tap.check("no made-up address", not wrong, " ".join(wrong))

    def public_host(self):
        """Workflows and templates of issues. Nothing runs them here; what they call is at least there."""
        for path in sorted((self.root / ".github").rglob("*.yml")):
            name = path.relative_to(self.root)
            found = self.read_yaml(name, path.read_text())
            if found and "jobs" in found:
                commands = [command for job in found["jobs"].values() for command in
                            [*(step.get("run", "") for step in job["steps"]), *job.get("strategy", {}).get("matrix", {}).get("command", [])]]
                scripts = {command.split()[0] for command in commands if command.startswith(("tools/", ".ci/"))}
                missing = [script for script in scripts if not os.access(self.root / script, os.X_OK)]
                self.tap.check(f"{name}: its scripts are there", scripts and not missing, f"{scripts}, missing: {missing}")
                options = set(re.findall(r"-D(\w+)=", " ".join(commands)))
                unknown = options - set(re.findall(r"^option\('(\w+)'", (self.root / "meson_options.txt").read_text(), re.M))
                self.tap.check(f"{name}: its options are those of Meson's", options and not unknown, str(unknown))
            elif found:
                asked = {part.get("id") for part in found["body"]}
                self.tap.check(f"{name}: asks for the message, the compiler and the types", {"message", "compiler", "types"} <= asked, str(asked))

    # ---- CMake -----------------------------------------------------------------------------------------
    def configure(self, name, text, *options):
        project = self.folder / name
        project.mkdir()
        (project / "CMakeLists.txt").write_text(text % self.root)
        done, output = self.run("cmake", "-G", "Ninja", "-S", project, "-B", project / "build", *options)
        self.tap.check(f"CMake: {name}", done, output)

    def cmake(self):
        if not shutil.which("cmake"):
            return self.tap.skip("CMake", "no cmake")
        self.configure("as a component of ESP-IDF", ESP_IDF)
        script = self.folder / "script.cmake"
        script.write_text(ESP_IDF_SCRIPT % self.root)
        done, output = self.run("cmake", "-P", script)
        self.tap.check("CMake: read by ESP-IDF as a script", done, output)
        self.configure("as a module of Zephyr", ZEPHYR, "-DCONFIG_UMBEL=y")
        self.configure("as a module of Zephyr that is off", ZEPHYR)


def main():
    (root,), compiler = split_command(sys.argv[1:])
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        files = Files(tap, pathlib.Path(root).resolve(), pathlib.Path(folder), compiler)
        for part in files.platformio, files.arduino, files.esp_idf, files.zephyr, files.addresses, files.public_host, files.cmake:
            part()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
