#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Umbel as its users meet it: installed (pkg-config) and as a Meson subproject that brings no test, no flag, no program.

    package.py PROJECT_ROOT -- COMPILER...
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from tap import Tap, split_command

USER = """project('user', 'cpp', default_options: ['cpp_std=c++20', 'werror=true', 'warning_level=3'])
umbel = dependency('umbel'%s)
executable('user', 'user.cpp', dependencies: umbel)
"""
# config.hpp: the glue is what is tested here, not the library.
PROGRAM = "#include <umbel/config.hpp>\n#include <umbel/version.hpp>\nint main() { return UMBEL_VERSION_MAJOR < 0; }\n"


def run(*command, **environment):
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                            env={**os.environ, **environment})
    return result.returncode == 0, result.stdout + result.stderr


def write_user(folder, arguments):
    folder.mkdir()
    (folder / "meson.build").write_text(USER % arguments)
    (folder / "user.cpp").write_text(PROGRAM)


def use_installed(tap, root, folder, cxx):
    prefix = folder / "prefix"
    done, output = run("meson", "setup", f"{folder}/build", str(root), f"--prefix={prefix}", "-Dtests=disabled",
                       "-Dbench=disabled", "-Dexamples=disabled", CXX=cxx)
    if done:
        done, output = run("meson", "install", "-C", f"{folder}/build")
    tap.check("installs", done, output)
    pkg_config = {"PKG_CONFIG_PATH": f"{prefix}/share/pkgconfig"}
    version = run(sys.executable, f"{root}/tools/version.py")[1].strip()
    said = run("pkg-config", "--modversion", "umbel", **pkg_config)[1].strip()
    tap.check("pkg-config knows the version", said == version, f"{said}, want {version}")
    write_user(folder / "installed", "")
    done, output = run("meson", "setup", f"{folder}/installed/build", f"{folder}/installed", CXX=cxx, **pkg_config)
    if done:
        done, output = run("meson", "compile", "-C", f"{folder}/installed/build")
    tap.check("a program builds against the installed headers", done, output)


def use_subproject(tap, root, folder, cxx):
    user = folder / "subproject"
    write_user(user, ", fallback: 'umbel'")
    (user / "subprojects").mkdir()
    (user / "subprojects/umbel").symlink_to(root)
    build = user / "build"
    done, output = run("meson", "setup", str(build), str(user), "--wrap-mode=forcefallback", CXX=cxx)
    if done:
        done, output = run("meson", "compile", "-C", str(build))
    tap.check("a program builds with Umbel as a subproject", done, output)
    if not done:
        return
    rules = (build / "build.ninja").read_text()
    tap.check("the subproject adds no -march", "-march" not in rules)
    tests = run("meson", "test", "-C", str(build), "--list")[1]
    tap.check("the subproject adds no test", "No tests defined" in tests, tests)
    targets = run("meson", "introspect", "--targets", str(build))[1]
    tap.check("the subproject adds no program", targets.count('"id"') == 1, targets)


def main():
    (root,), compiler = split_command(sys.argv[1:])
    root, cxx = pathlib.Path(root), " ".join(compiler)
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        use_installed(tap, root, folder, cxx)
        use_subproject(tap, root, folder, cxx)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
