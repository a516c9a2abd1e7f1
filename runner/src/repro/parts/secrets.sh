# Whether a file shows the digits of a canary: as they are, in capitals,
# backwards, in base64 or in hexadecimal.
shows_digits() {
    backwards=$(printf %s "$2" | rev)
    grep -q -a -i -F -e "$2" -e "$backwards" -- "$1" && return
    tr -d ' \t\r\n\v\f' <"$1" | grep -q -a -F \
        -e "$(printf %s "$2" | od -An -v -tx1 | tr -d ' \n' | cut -c 1-40)" \
        -e "$(printf %s "$2" | base64 -w 0 | cut -c 1-40)" \
        -e "$(printf %s "x$2" | base64 -w 0 | cut -c 3-42)" \
        -e "$(printf %s "xx$2" | base64 -w 0 | cut -c 4-43)"
}

# Looks for one secret in everything that the command wrote or said, and notes
# where it shows. Only an `allowed` one may.
look_for() {
    name=$1
    digits=${2#canary-}
    for place in preamble output errors written names "$notes"/heard.*; do
        [ "${place#/}" != "$place" ] || place=$notes/$place
        if [ -s "$place" ] && shows_digits "$place" "$digits"; then
            say "$name ${place##*/}" >>"$notes/shown"
            if [ "$3" != allowed ]; then
                say "      the secret $name shows in: ${place##*/}"
                leaks=yes
            fi
        fi
    done
}

# Notes the names and the content of what is new below the directories given, as
# far as they are in the fixture.
note_written() {
    count=$#
    while [ "$count" -gt 0 ]; do
        case $1/ in
        "$root"/*) set -- "$@" "$1" ;;
        *) case $root/ in "${1%/}"/*) set -- "$@" "$root" ;; esac ;;
        esac
        shift
        count=$((count - 1))
    done
    find "$@" -cnewer "$notes/stamp" ! -name .perimeter-probe -printf '%f\n%l\n' >"$notes/names"
    # Not without end: a command may fill a disk.
    find "$@" -cnewer "$notes/stamp" ! -name .perimeter-probe -type f -exec cat {} + |
        head -c 268435456 >"$notes/written"
}
