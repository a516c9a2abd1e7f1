//! Text of a run without what only its host knows.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::report::harmless;

/// A trial's own directory, and the token by which its command proves its start:
/// they are of one run, and say nothing to a reader of another.
static OWN: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (
            r"(/[^\s\x22'=:,]*)?/perimeter-[0-9a-z]+/[0-9]+[a-z]",
            "{root}",
        ),
        // Cut off by the end of a line that was shortened.
        (r"/[^\s\x22'=:,]*/peri[^\s/]*…", "{root}…"),
        (r"perimeter-[0-9a-f]{32}", "{nonce}"),
    ]
    .into_iter()
    .filter_map(|(pattern, instead)| Some((Regex::new(pattern).ok()?, instead)))
    .collect()
});

/// The text, harmless, with `{root}` for the trial's directory.
pub(super) fn text(text: &str) -> String {
    OWN.iter()
        .fold(harmless(text).into_owned(), |text, (own, instead)| {
            own.replace_all(&text, *instead).into_owned()
        })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    #[rstest]
    #[case(
        "/home/me/.cache/perimeter/perimeter-cvv35igf/7290s/outside/new: created",
        "{root}/outside/new: created"
    )]
    #[case("wrote \"/tmp/perimeter-ab12/0b/x\"", "wrote \"{root}/x\"")]
    #[case("printf perimeter-de7860c8a99ea9c41c87e5edbc2eb3f2", "printf {nonce}")]
    #[case(
        "bash -c echo > /root/.cache/perimeter/perim…)",
        "bash -c echo > {root}…)"
    )]
    #[case("/etc/passwd\u{1b}[31m", "/etc/passwd\\x1b[31m")]
    fn what_is_of_one_run_is_left_out(#[case] from: &str, #[case] to: &str) {
        assert_eq!(super::text(from), to);
    }
}
