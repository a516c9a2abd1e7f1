# How what runs is ended early: the helper then ends its whole tree.
end_with=TERM

# Runs a launcher's command line by the helper above, which gives it what a shell
# cannot, and does what is to happen meanwhile. Its options are before the `--`. It
# is told by a file: commands look for each other by their command lines.
run_launcher() {
    printf '%s\0' "$notes" "$directory" "$deadline" "0.$grace" \
        --start "$start" --input "$input" --host-directory "$root" "$@" >"$notes/words"
    python3 "$tools/keeper.py" <"$notes/words" &
    running=$!
    wait "$running" || die "the launch could not be made"
    running=
    # shellcheck source=/dev/null
    . "$notes/ending"
}
