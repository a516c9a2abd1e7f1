# What is at these paths and below: kind, mode, owner, times, content, one a line.
state_of() {
    find "$@" -type d -exec stat -c '%N %F %a %u:%g %d:%i %y %z' {} + \
        -o -exec stat -c '%N %F %a %u:%g %d:%i %h %s %y %z' {} +
    find "$@" -type f ! -name .perimeter-probe -exec sha256sum {} + 2>/dev/null
}

# A path as find takes it, which has patterns.
pattern_of() {
    say "$1" | sed 's/[][*?\\]/\\&/g'
}

# The state of everything in the fixture but what is below the directories given,
# which may change; of these themselves only what they are.
protected() {
    count=$#
    # First for all of them, since one may be below another.
    for changing; do
        set -- "$@" -path "$(pattern_of "$changing")/*" -prune -o
    done
    while [ "$count" -gt 0 ]; do
        pattern=$(pattern_of "$1")
        shift
        set -- "$@" -path "$pattern" -exec stat -c '%N %F %a %u:%g %d:%i' {} + -o
        count=$((count - 1))
    done
    find "$root" "$@" -type d -exec stat -c '%N %F %a %u:%g %d:%i %y %z' {} + \
        -o -exec stat -c '%N %F %a %u:%g %d:%i %h %s %y %z' {} +
    find "$root" "$@" -type f ! -name .perimeter-probe -exec sha256sum {} + 2>/dev/null
}
