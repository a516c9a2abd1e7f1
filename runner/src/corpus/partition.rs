//! One part of many: the trials split over several machines.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use super::Trial;

/// Which part of how many. The split is that of cargo-nextest's `count:k/n`: what a
/// test target would run, in the order of its names, is dealt out one after another.
/// So this command and `cargo nextest run --partition count:k/n` run the same ones.
/// What the test target would ignore is dealt out after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partition {
    /// From 1.
    part: usize,
    parts: usize,
}

impl Partition {
    /// Leaves of the trials those of this part. `ignored` tells what a test target
    /// would not run.
    pub fn keep(self, trials: &mut Vec<Trial>, ignored: impl Fn(&Trial) -> bool) {
        let mut names: Vec<(bool, &str)> = trials
            .iter()
            .map(|trial| (ignored(trial), trial.name.as_str()))
            .collect();
        names.sort_unstable();
        let mine: HashSet<String> = names
            .into_iter()
            .skip(self.part - 1)
            .step_by(self.parts)
            .map(|(_, name)| name.to_owned())
            .collect();
        trials.retain(|trial| mine.contains(&trial.name));
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.part, self.parts)
    }
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Partition, String> {
        let wrong = || format!("{text:?} is no part: write 1/3 for the first of three");
        let numbers = text.strip_prefix("count:").unwrap_or(text);
        let (part, parts) = numbers.split_once('/').ok_or_else(wrong)?;
        let part: usize = part.parse().map_err(|_| wrong())?;
        let parts: usize = parts.parse().map_err(|_| wrong())?;
        if part == 0 || part > parts {
            return Err(format!("{text:?}: the part must be between 1 and {parts}"));
        }
        Ok(Partition { part, parts })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1/1", "1/1")]
    #[case("count:2/3", "2/3")]
    fn a_part_is_read(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(text.parse::<Partition>().unwrap().to_string(), shown);
    }

    #[rstest]
    #[case("0/2")]
    #[case("3/2")]
    #[case("1/0")]
    #[case("1")]
    #[case("-1/2")]
    #[case("a/b")]
    #[case("hash:1/2")]
    fn no_part_is_refused(#[case] text: &str) {
        assert!(text.parse::<Partition>().unwrap_err().contains(text));
    }
}
