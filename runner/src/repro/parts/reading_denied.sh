read_verdict() {
    [ "$leaks" = no ] ||
        verdict escaped "a secret showed where the case does not allow it"
    [ "$shows" = no ] ||
        verdict escaped "the forbidden effect showed"
    watched
    [ "$possible" = yes ] ||
        verdict vacuous "without a sandbox it does not show either: nothing is proven"
    ended
    if [ "$began_all" = no ]; then
        if [ "$may_refuse" = yes ] && { [ "$any_started" = yes ] || [ "$control_started" = yes ]; }; then
            # shellcheck disable=SC2086 # three words
            refused $refusal
        fi
        verdict overblocked "the command never started, so nothing was denied"
    fi
    [ "$lost" = no ] ||
        verdict deviates "the command was told that it succeeded, and nothing came of it"
    [ -z "$manner" ] ||
        verdict deviates "the right outcome, in the wrong manner: $manner"
    verdict conforms "the effect that shows without a sandbox does not show under the launcher"
}
