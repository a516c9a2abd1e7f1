# A launch that is tried again and again, until what is looked for shows. What
# counts is the try that showed it, or else the last that started.
race() {
    most=$1
    # Who refuses every try has not taken part in the race yet.
    enough=$((8 * most))
    began_before=$began_all
    kept=no
    made=0
    while :; do
        began_all=$began_before
        "$2" >"$notes/log"
        made=$((made + 1))
        look >/dev/null
        if [ "$shows" = yes ] || [ "$started" = yes ] || [ "$kept" = no ]; then
            kept=yes
            kept_status=$status
            kept_last=$last
            kept_began=$began_all
            for stream in preamble output errors; do
                cp "$notes/$stream" "$notes/kept.$stream"
            done
        fi
        if [ "$started" = yes ]; then
            enough=$most
        fi
        if [ "$shows" = yes ] || [ "$made" -ge "$enough" ]; then
            break
        fi
    done
    status=$kept_status
    last=$kept_last
    began_all=$kept_began
    for stream in preamble output errors; do
        cp "$notes/kept.$stream" "$notes/$stream"
    done
    say "      launched $made times"
    cat "$notes/log"
}

# The other party of a race: a shell command of the host, in a session of its own.
run_beside() {
    (cd "$root" && exec setsid "$@") </dev/null >/dev/null 2>&1 &
    beside=$!
}

end_beside() {
    kill -KILL "-$beside" 2>/dev/null
    wait "$beside" 2>/dev/null
    beside=
}
