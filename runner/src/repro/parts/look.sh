# One part of what is looked for: its words, then a test.
part() {
    words=$1
    shift
    if "$@"; then
        say "    effect: yes  $words"
    else
        say "    effect: no   $words"
        shows=no
    fi
}

is_present() { [ -e "$1" ] || [ -L "$1" ]; }
is_absent() { ! is_present "$1" && { [ ! -d "${1%/*}" ] || [ -x "${1%/*}" ]; }; }
is_file() { [ -f "$1" ] && [ ! -L "$1" ]; }
is_directory() { [ -d "$1" ] && [ ! -L "$1" ]; }
is_symlink() { [ -L "$1" ]; }
has_mode() { is_present "$1" && [ "$(stat -c %04a "$1")" = "$2" ]; }
leads_to() { [ -L "$1" ] && [ "$(readlink "$1")" = "$2" ]; }

# Whether a file is the wanted text; the text may lack the newline at its end.
is_text() {
    is_file "$1" || return
    cmp -s "$notes/wanted" "$1" && return
    say >>"$notes/wanted"
    cmp -s "$notes/wanted" "$1"
}

has_line() { sed 's/\r$//' "$1" | grep -q -a -x -F -e "$2"; }

contains() {
    is_file "$1" || return
    case $(tr -d '\000' <"$1"; printf x) in
    *"$2"*) return 0 ;;
    esac
    return 1
}

lacks() { ! contains "$1" "$2"; }

shown() { grep -q -x -e "$1 .*" "$notes/shown"; }
has_heard() { [ -s "$notes/heard.$1" ]; }
is_same() { [ "$1" = "$2" ]; }
is_changed() {
    state_of "$2" >"$notes/is" 2>/dev/null
    ! cmp -s "$notes/was.$1" "$notes/is"
}
is_unchanged() { ! is_changed "$1" "$2"; }
has_survived() { [ "$survived" = yes ]; }
cannot_change() { return 1; }
