# How what runs is ended early.
end_with=KILL

# Ends a process that is still there when the deadline has passed.
watch_deadline() {
    timeout "$deadline" tail --pid="$1" -f /dev/null &
    watching=$!
    trap 'kill "$watching"; exit' TERM
    wait "$watching"
    if [ "$?" -eq 124 ]; then
        : >"$notes/deadline"
        kill -KILL "$1"
    fi
}

# Reads all of a stream, and keeps its beginning and its end.
keep() {
    exec timeout "$((deadline + 5))" sh -c 'head -c 786432; tail -c 262144'
}

# Runs a launcher's command line as the leader of a session, with a deadline. Its
# output is a pipe, as an agent's is. No other process has its command line, since
# commands look for each other by that.
run_launcher() {
    [ "$1" != -- ] || shift
    rm -f "$notes/output.pipe" "$notes/errors.pipe" "$notes/deadline"
    mkfifo "$notes/output.pipe" "$notes/errors.pipe"
    keep <"$notes/output.pipe" >"$notes/raw" &
    reads_output=$!
    keep <"$notes/errors.pipe" >"$notes/errors" &
    reads_errors=$!
    (
        cd -- "$directory" && exec env --default-signal setsid -w "$@"
    ) <"$input" >"$notes/output.pipe" 2>"$notes/errors.pipe" &
    running=$!
    watch_deadline "$running" &
    watches=$!
    wait "$running"
    status=$?
    running=
    kill -TERM "$watches" 2>/dev/null
    wait "$watches"
    watches=
    if [ -e "$notes/deadline" ]; then
        timed_out=yes
    fi
    # The kernel takes a sandbox down a moment after its launcher has ended.
    rounds=0
    while survivors=$(below_top "$root") && [ -n "$survivors" ] && [ "$rounds" -lt "$grace" ]; do
        rounds=$((rounds + 1))
        sleep 0.01
    done
    for process in $survivors; do
        say "$process $(tr '\0' ' ' <"/proc/$process/cmdline" 2>/dev/null)"
    done >"$notes/survivors"
    end_below "$root"
    wait "$reads_output" "$reads_errors"
}
