read_verdict() {
    [ "$leaks" = no ] ||
        verdict escaped "a secret showed where the case does not allow it"
    watched
    if [ "$shows" = no ] && [ "$possible" = no ]; then
        verdict vacuous "without a sandbox it does not show either: this host cannot"
    fi
    ended
    [ "$began_all" = yes ] ||
        verdict overblocked "the command never started"
    [ "$shows" = yes ] ||
        verdict overblocked "what must work does not"
    [ -z "$manner" ] ||
        verdict deviates "the right outcome, in the wrong manner: $manner"
    verdict conforms "what must work does"
}
