//! The known word that a mistyped one was probably meant to be.

/// The nearest of `known`, if it is no more than a slip or two away.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    const LONGEST: usize = 40;
    if word.len() > LONGEST {
        return None;
    }
    let flat = |text: &str| text.to_ascii_lowercase().replace(['-', ' '], "_");
    known
        .iter()
        .map(|candidate| (distance(&flat(word), candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= 2 && *distance < candidate.len() / 2)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many characters have to be put in, taken out or changed to get from one
/// word to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, character) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for column in 0..to.len() {
            let change = diagonal + usize::from(character != to[column]);
            diagonal = row[column + 1];
            row[column + 1] = change.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::a_slip("netwrok", Some("network"))]
    #[case::a_hyphen("read-only", Some("read_only"))]
    #[case::capitals("Network", Some("network"))]
    #[case::nothing_like_it("allowlist", None)]
    #[case::empty("", None)]
    fn the_nearest_word(#[case] word: &str, #[case] expected: Option<&str>) {
        assert_eq!(nearest(word, &["network", "read_only", "hidden"]), expected);
    }
}
