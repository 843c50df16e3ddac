# SPDX-License-Identifier: BSL-1.0
# shellcheck shell=bash
# What tools/test, tools/demo, tools/bench and .ci/run share: sourced, never run. `need` installs what is missing.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
fashion_dataset=${UMBEL_FASHION_DATASET:-/usr/share/datasets/fashion-mnist}

fail() {
  echo "${0##*/}: $*" >&2
  exit 2
}

# ---- what is there ------------------------------------------------------------------------------------
has() { command -v "$1" >/dev/null 2>&1; }

# The clang to use: clang++ when it is 14 or newer, else clang++-14; nothing when there is none.
find_clang() {
  local name
  for name in clang++ clang++-14; do
    if has "$name" && (($("$name" -dumpversion | cut -d. -f1) >= 14)); then
      echo "$name"
      return
    fi
  done
}

has_header() { printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | g++ -E -x c++ -o /dev/null - >/dev/null 2>&1; }

has_boost_test() {
  has_header boost/test/unit_test.hpp &&
    echo 'int main() {}' | g++ -x c++ -o /dev/null - -lboost_unit_test_framework >/dev/null 2>&1
}

has_clang_sanitizers() {
  echo 'int main() {}' | "$(find_clang)" -fsanitize=address,undefined -x c++ -o /dev/null - >/dev/null 2>&1
}

has_dataset() { [[ -e $fashion_dataset/t10k-images-idx3-ubyte.gz && -e $fashion_dataset/t10k-labels-idx1-ubyte.gz ]]; }

# Is what this Debian package brings there, wherever it came from?
is_there() {
  case $1 in
    g++ | gcc | make | meson | python3 | gdb | valgrind | cmake | git) has "$1" ;;
    clang) [[ -n $(find_clang) ]] ;;
    ninja-build) has ninja ;;
    binutils) has size ;;
    g++-*-linux-gnu*) has "${1#g++-}-g++" ;;
    gcc-arm-none-eabi) has arm-none-eabi-g++ ;;
    qemu-system-arm) has qemu-system-arm ;;
    clang-19) has clang++-19 ;;
    nodejs) has node ;;
    qemu-user) has qemu-aarch64 ;;
    pkg-config) has pkg-config ;;
    libopenmpi-dev) pkg-config --exists mpi ;;
    openmpi-bin) has mpirun ;;
    libboost-dev) has_header boost/hana.hpp ;;
    libboost-test-dev) has_boost_test ;;
    libbenchmark-dev) has_header benchmark/benchmark.h ;;
    libeigen3-dev) has_header eigen3/Eigen/Core ;;
    libopenblas-dev) pkg-config --exists openblas ;;
    libxsmm-dev) has_header libxsmm.h ;;
    libdnnl-dev) has_header dnnl.hpp ;;
    python3-matplotlib) /usr/bin/python3 -c 'import matplotlib' >/dev/null 2>&1 ;;
    libclang-rt-*-dev) has_clang_sanitizers ;; # not that of another target
    python3-torch) /usr/bin/python3 -c 'import torch' >/dev/null 2>&1 ;;
    dataset-fashion-mnist) has_dataset ;;
    *) dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q "install ok installed" ;;
  esac
}

# The given packages of which nothing is there, in the order given, into the array `missing`.
find_missing() {
  local package
  missing=()
  for package in "$@"; do
    is_there "$package" || missing+=("$package")
  done
}

# ---- installing ---------------------------------------------------------------------------------------
as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo -n "$@"
  fi
}

can_install() {
  has apt-get && { ((EUID == 0)) || { has sudo && sudo -n true 2>/dev/null; }; }
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -qq "$@" </dev/null
}

apt_install() {
  apt install -y --no-install-recommends "$@" >/dev/null
}

# Install the given packages; the lists are fetched once, when the first try fails.
install() {
  echo "installing: $*" >&2
  apt_install "$@" 2>/dev/null && return
  apt update && apt_install "$@"
}

# need PACKAGE...: all of them are there afterwards, or the script ends with 2.
need() {
  local missing
  find_missing "$@"
  ((${#missing[@]})) || return 0
  can_install || fail "missing, and neither root nor sudo with apt-get to install them; please install: ${missing[*]}"
  install "${missing[@]}" || fail "could not install: ${missing[*]}"
  find_missing "$@"
  ((${#missing[@]} == 0)) || fail "installed, but still not found: ${missing[*]}"
}

# want PACKAGE...: as need, but the script goes on without; false when something is missing.
want() {
  local missing
  find_missing "$@"
  ((${#missing[@]})) || return 0
  can_install && install "${missing[@]}" >&2 && find_missing "$@" && ((${#missing[@]} == 0))
}

# What every build here needs.
# shellcheck disable=SC2034
build_packages=(g++ meson ninja-build pkg-config python3 libboost-dev)

# ---- building -----------------------------------------------------------------------------------------
# configure DIRECTORY OPTION...: sets up the build directory, or gives the one that is there these options.
configure() {
  local directory=$1 log
  shift
  set -- -Db_colorout=auto "$@"
  log=$directory/setup.log
  if [[ -e $directory/build.ninja ]]; then
    # The second command: what changed in a meson.build since, before anybody reads the lists of tests and targets.
    if meson configure "$directory" "$@" >"$log" 2>&1 && ninja -C "$directory" build.ninja >>"$log" 2>&1; then return; fi
    rm -rf "$directory" # made by another version, which has other options
  fi
  mkdir -p "$directory"
  meson setup "$directory" "$root" "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
}

# compile DIRECTORY TARGET...: quiet unless it fails.
compile() {
  local directory=$1 log
  shift
  log=$directory/compile.log
  ninja -C "$directory" "$@" >"$log" 2>&1 </dev/null || {
    sed -n '/^FAILED: /,$p' "$log" | grep . >&2 || cat "$log" >&2
    return 1
  }
}
