# shellcheck shell=bash
# What the scripts in tools/ share: where the project is, progress, packages. Sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck disable=SC2034  # For the scripts that source this.
readonly root

# Debian packages by what they are needed for; the -dev packages bring their own libraries.
declare -rA package_groups=(
    [build]="g++ cmake ninja-build ccache mold libboost1.81-dev libboost-json1.81-dev librocksdb-dev
             libspdlog-dev libfmt-dev libcli11-dev libyaml-cpp-dev libssl-dev prometheus-cpp-dev libpq-dev
             libhiredis-dev librdkafka-dev"
    [test]="libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev curl strace pkg-config
            postgresql-15 postgresql-server-dev-15 redis-server redis-sentinel openssl python3-venv iproute2
            pgbouncer libfaketime e2fsprogs default-jre-headless maven kcat"
    [check]="clang-format clang-tidy shellcheck"
    [bench]="libbenchmark-dev wrk postgresql-15"
    [postgres]="postgresql-15"
    [redis]="redis-server redis-sentinel"
    [kafka]="default-jre-headless maven kcat"
)

say() { printf '==> %s\n' "$*" >&2; }

die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Prints the comment block below the first line of a script: its help.
help_of() { awk 'NR == 1 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$1"; }

now_ms() { printf '%s' "$((${EPOCHREALTIME//[.,]/} / 1000))"; }

# since START_MS: the time since then, as "3.2 s" or "4 min 7 s".
since() {
    local ms=$(($(now_ms) - $1))
    if ((ms < 60000)); then
        printf '%d.%d s' $((ms / 1000)) $((ms % 1000 / 100))
    else
        printf '%d min %d s' $((ms / 60000)) $((ms % 60000 / 1000))
    fi
}

# timed NAME COMMAND...: runs it, says how it went and how long it took, and returns its status.
timed() {
    local name=$1 start status=0
    shift
    start=$(now_ms)
    "$@" || status=$?
    if ((status == 0)); then
        say "$name: ok, $(since "$start")"
    else
        say "$name: FAILED after $(since "$start")"
    fi
    return "$status"
}

# quietly WHAT COMMAND...: runs it with its output put aside, shows that it goes on, and shows the
# end of the output only if it fails.
quietly() {
    local what=$1 log start status=0 ticker
    shift
    log=$(mktemp)
    start=$(now_ms)
    (
        trap 'exit 0' TERM
        # In the background Ctrl-C is not heard: it ends by itself when the script is gone.
        while sleep 2 2>/dev/null & wait $! && kill -0 $$ 2>/dev/null; do
            if [[ -t 2 ]]; then
                printf '\r==> %s ... %s' "$what" "$(since "$start")" >&2
            elif (($(now_ms) - start < 3000 || SECONDS % 20 < 2)); then
                say "$what ... $(since "$start")"
            fi
        done
    ) </dev/null >/dev/null &
    ticker=$!
    "$@" </dev/null >"$log" 2>&1 || status=$?
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    if [[ -t 2 ]] && (($(now_ms) - start >= 2000)); then printf '\r\033[K' >&2; fi
    if ((status != 0)); then tail -n 30 "$log" >&2; fi
    rm -f "$log"
    return "$status"
}

# missing_packages GROUP...: prints those packages of the groups that are not installed. Where there is
# no dpkg to ask, nothing is taken to be missing.
missing_packages() {
    local group package packages wanted=() installed
    command -v dpkg-query >/dev/null || return 0
    for group in "$@"; do
        read -r -d '' -a packages <<<"${package_groups[$group]}" || true
        wanted+=("${packages[@]}")
    done
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
    for package in "${wanted[@]}"; do
        grep -qxF "$package installed" <<<"$installed" || printf '%s\n' "$package"
    done | sort -u
}

apt_get() {
    local as_root=()
    if ((EUID != 0)); then as_root=(sudo -n); fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -y -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

# install_packages GROUP...: installs what is missing of these groups. Touches neither the network
# nor sudo when nothing is.
install_packages() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    if ((${#missing[@]} == 0)); then return; fi

    local by_hand="run as root: apt-get install ${missing[*]}"
    if ((EUID != 0)); then
        command -v sudo >/dev/null || die "packages are missing and there is no sudo; $by_hand"
        # Only sudo itself may want its password, and only from a person at a terminal.
        sudo -n true 2>/dev/null || { [[ -t 0 && -t 2 ]] && sudo -v; } ||
            die "packages are missing and sudo wants a password; $by_hand"
    fi
    say "installing with apt: ${missing[*]}"
    # A broken list of somebody else's packages need not keep ours away.
    quietly "reading the package lists" apt_get update || say "apt-get update failed; trying nevertheless"
    quietly "installing ${#missing[@]} packages" apt_get install --no-install-recommends "${missing[@]}" ||
        die "apt could not install these packages: ${missing[*]}"
}

# project_files ROOT PATTERN...: the files under ROOT that belong to the project and match one of the
# patterns ("*.cpp"), one a line: never what lies in build/ or data/.
project_files() (
    cd "$1" || exit
    shift
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files -co --exclude-standard -x /build/ -x /data/ -- "$@" | sort -u
    else
        local tests=() pattern
        for pattern in "$@"; do tests+=(-o -path "./$pattern"); done
        find . \( -path ./build -o -path ./data \) -prune -o -type f \( "${tests[@]:1}" \) -print |
            cut -c3- | sort
    fi | while IFS= read -r file; do
        # A file deleted but not yet committed is still listed.
        if [[ -f $file ]]; then printf '%s\n' "$file"; fi
    done
)
