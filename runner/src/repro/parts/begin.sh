set -u
umask 022
cd /
LC_ALL=C
export LC_ALL

die() {
    printf '%s\n' "$0: $*" >&2
    exit 2
}

say() {
    printf '%s\n' "$*"
}

# Thirty-two random hexadecimal digits.
random() {
    od -An -N16 -tx1 /dev/urandom | tr -d ' \n'
}

# Everything that this script makes is below one directory, which it removes at
# the end: also when it is interrupted.
below=${1:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}}
mkdir -p -- "$below" || die "cannot make $below; name another directory"
below=$(cd -- "$below" && pwd -P) || die "cannot enter it; name another directory"
case $below in
*[!A-Za-z0-9/._@+-]*)
    die "$below: the case's commands write this path without quotes; name a plain directory" ;;
esac
top=$(mktemp -d "$below/perimeter-repro.XXXXXXXX") || die "cannot make a directory in $below"
chmod 755 "$top"
temporary=
running=
watches=
host=
beside=
stage=

# The processes that work below the directory, whoever started them.
below_top() {
    find /proc/[0-9]*/cwd -maxdepth 0 -lname "$1/*" 2>/dev/null |
        sed 's|^/proc/\([0-9]*\)/cwd$|\1|'
}

# Ends them, and whatever they start meanwhile.
end_below() {
    rounds=0
    while [ "$rounds" -lt 100 ] && left=$(below_top "$1") && [ -n "$left" ]; do
        # shellcheck disable=SC2086 # several numbers
        kill -KILL $left 2>/dev/null
        rounds=$((rounds + 1))
        sleep 0.01
    done
}

clean() {
    trap '' INT TERM HUP
    [ -z "$host" ] || kill -TERM "$host" 2>/dev/null
    [ -z "$running" ] || kill "-$end_with" "$running" 2>/dev/null
    [ -z "$beside" ] || kill -KILL "-$beside" 2>/dev/null
    [ -z "$running" ] || wait "$running" 2>/dev/null
    [ -z "$watches" ] || kill -TERM "$watches" 2>/dev/null
    end_below "$top"
    chmod -R u+rwX "$top" 2>/dev/null
    for directory in $temporary; do
        rm -rf --one-file-system -- "$directory"
    done
    rm -rf --one-file-system -- "$top"
    if [ -n "$stage" ]; then
        printf '%s\n' "$0: the fixture could not be made, so nothing is read" >&2
        exit 2
    fi
}
trap clean EXIT
trap 'stage=; exit 129' HUP
trap 'stage=; exit 130' INT
trap 'stage=; exit 143' TERM

# What it needs.
need() {
    for program; do
        command -v "$program" >/dev/null || die "$program is not here, and this case needs it"
    done
}
need bash env find grep mktemp od setsid sha256sum stat timeout
