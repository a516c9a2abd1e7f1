# What is at these paths and below: kind, mode, owner, times, content, one a line.
state_of() {
    find "$@" -type d -exec stat -c '%N %F %a %u:%g %d:%i %y %z' {} + \
        -o -exec stat -c '%N %F %a %u:%g %d:%i %h %s %y %z' {} +
    find "$@" -type f ! -name .perimeter-probe -exec sha256sum {} + 2>/dev/null
}

# The state of everything in the fixture but what is below the directories given,
# which may change; of these themselves only what they are.
protected() {
    count=$#
    while [ "$count" -gt 0 ]; do
        # find takes patterns, so what means something in one is quoted.
        pattern=$(say "$1" | sed 's/[][*?\\]/\\&/g')
        shift
        set -- "$@" -path "$pattern/*" -prune -o \
            -path "$pattern" -exec stat -c '%N %F %a %u:%g %d:%i' {} + -o
        count=$((count - 1))
    done
    find "$root" "$@" -type d -exec stat -c '%N %F %a %u:%g %d:%i %y %z' {} + \
        -o -exec stat -c '%N %F %a %u:%g %d:%i %h %s %y %z' {} +
    find "$root" "$@" -type f ! -name .perimeter-probe -exec sha256sum {} + 2>/dev/null
}
