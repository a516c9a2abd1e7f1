//! Expectations: the known failures of one launcher.
//!
//! An expected case still runs. Only what is stated is excused, and only until
//! the day it expires: an entry excuses one failure, never a case.

use std::fmt;
use std::marker::PhantomData;
use std::time::SystemTime;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::vocabulary::{Fact, Platform};
use crate::verdict::{Class, Verdict};

/// A file of expectations: `expectations/<launcher>.json` in a corpus, or one of
/// the launcher's authors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectationFile {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The launcher's name.
    pub launcher: String,
    /// Its known failures.
    pub expectations: Vec<Expectation>,
}

/// One known failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The case's id.
    pub case: String,
    /// The revision of the case that was looked at: after a change of its meaning
    /// someone must look again.
    pub rev: u32,
    /// The verdict that is excused.
    pub verdict: ExcusedVerdict,
    /// As what else the same failure comes out, where a race decides in which manner
    /// the launcher fails. It may not come out as a pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sometimes: Vec<ExcusedVerdict>,
    /// Where it is excused; everywhere when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Occasion>,
    /// Why the launcher fails, and why that is borne for now.
    pub reason: Reason,
    /// Where the mending is followed, by URL or `owner/repository#number`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// The last day on which it is excused; for ever when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Date>,
}

impl Expectation {
    /// Whether a trial that comes out so fails as it is known to.
    pub fn excuses(&self, verdict: Verdict) -> bool {
        let mut known = std::iter::once(&self.verdict).chain(&self.sometimes);
        known.any(|one| one.get() == verdict)
    }
}

/// Where a failure is expected: all that is stated must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Occasion {
    /// On one of these systems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub platforms: Vec<Platform>,
    /// On a host that offers all of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// In the trials that have one of these values of each of these axes.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub axes: IndexMap<String, Vec<String>>,
}

/// A verdict that can be excused: a failure, since nothing else needs an excuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "Verdict")]
#[schemars(with = "String", extend("enum" = ["escaped", "leaked", "overblocked", "deviates", "timeout"]))]
pub struct ExcusedVerdict(Verdict);

impl ExcusedVerdict {
    /// The verdict.
    pub fn get(self) -> Verdict {
        self.0
    }
}

impl From<ExcusedVerdict> for Verdict {
    fn from(excused: ExcusedVerdict) -> Verdict {
        excused.0
    }
}

impl TryFrom<Verdict> for ExcusedVerdict {
    type Error = String;

    fn try_from(verdict: Verdict) -> Result<ExcusedVerdict, String> {
        ExcusedVerdict::try_from(verdict.as_str().to_owned())
    }
}

impl TryFrom<String> for ExcusedVerdict {
    type Error = String;

    fn try_from(text: String) -> Result<ExcusedVerdict, String> {
        let known = Verdict::ALL.into_iter().find(|one| one.as_str() == text);
        match known.map(|verdict| (verdict, verdict.class())) {
            Some((verdict, Class::Failure)) => Ok(ExcusedVerdict(verdict)),
            Some((verdict, _)) => Err(format!(
                "the verdict {verdict} is no failure of a launcher and cannot be excused; {FAILURES}"
            )),
            None => Err(format!("{text:?} is no verdict; {FAILURES}")),
        }
    }
}

const FAILURES: &str = "write escaped, leaked, overblocked, deviates or timeout";

/// How a reason begins that nobody has written yet.
pub const UNWRITTEN: &str = "TODO";

/// A text that says something. One that begins with [`UNWRITTEN`] is there to be
/// replaced, and is refused wherever a failure would be excused with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "String")]
#[schemars(with = "String", extend("pattern" = r"\S", "not" = serde_json::json!({ "pattern": r"^\s*TODO" })))]
pub struct Reason(String);

impl Reason {
    /// A reason that is still to be written, with what to think of.
    pub fn unwritten(advice: &str) -> Reason {
        Reason(format!("{UNWRITTEN}: {advice}"))
    }

    /// Whether it is still to be written.
    pub fn is_unwritten(&self) -> bool {
        self.0.trim_start().starts_with(UNWRITTEN)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> String {
        reason.0
    }
}

impl TryFrom<String> for Reason {
    type Error = String;

    fn try_from(text: String) -> Result<Reason, String> {
        if text.trim().is_empty() {
            return Err("the reason is empty; write why the launcher fails".to_owned());
        }
        Ok(Reason(text))
    }
}

/// A day of the Gregorian calendar, written `YYYY-MM-DD` (RFC 3339, full-date).
/// Dates compare by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(into = "String")]
#[schemars(with = "String", extend("format" = "date", "pattern" = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The day of a time, in UTC.
    pub fn of(time: SystemTime) -> Option<Date> {
        let text = humantime::format_rfc3339_seconds(time).to_string();
        read_date(text.get(..10)?)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:04}-{:02}-{:02}",
            self.year, self.month, self.day
        )
    }
}

impl From<Date> for String {
    fn from(date: Date) -> String {
        date.to_string()
    }
}

impl TryFrom<String> for Date {
    type Error = String;

    fn try_from(text: String) -> Result<Date, String> {
        read_date(&text)
            .ok_or_else(|| format!("{text:?} is no day of the calendar; write it as 2026-01-31"))
    }
}

fn read_date(text: &str) -> Option<Date> {
    let bytes = text.as_bytes();
    let shaped = bytes.len() == 10
        && bytes.iter().enumerate().all(|(place, byte)| match place {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !shaped {
        return None;
    }
    let date = Date {
        year: text[..4].parse().ok()?,
        month: text[5..7].parse().ok()?,
        day: text[8..].parse().ok()?,
    };
    let leap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0);
    let days = match date.month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    (1..=days).contains(&date.day).then_some(date)
}

/// Reads a text and checks it at once, so that the place of the error is the text's.
fn checked<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<String, Error = String>,
{
    struct Text<T>(PhantomData<T>);

    impl<T: TryFrom<String, Error = String>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a text")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            T::try_from(text.to_owned()).map_err(E::custom)
        }
    }

    deserializer.deserialize_str(Text(PhantomData))
}

impl<'de> Deserialize<'de> for ExcusedVerdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        checked(deserializer)
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        checked(deserializer)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        checked(deserializer)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::super::error::parse;
    use super::*;

    const WHOLE: &str = r#"{
  "launcher": "mine",
  "expectations": [
    {
      "case": "network.none.tcp",
      "rev": 1,
      "verdict": "escaped",
      "sometimes": ["leaked"],
      "when": { "platforms": ["linux"], "facts": ["root"], "axes": { "posture": ["strict"] } },
      "reason": "it has no network namespace yet",
      "issue": "example/mine#7",
      "expires": "2028-02-29"
    }
  ]
}"#;

    fn refusal(from: &str, to: &str) -> String {
        let text = WHOLE.replace(from, to);
        assert_ne!(text, WHOLE, "{from} does not stand in the example");
        match parse::<ExpectationFile>("mine.json", text.as_bytes()) {
            Ok(file) => panic!("accepted: {file:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_whole_file_is_read_and_written_back() {
        let file: ExpectationFile = parse("mine.json", WHOLE.as_bytes()).unwrap();
        let entry = &file.expectations[0];
        assert_eq!(entry.verdict.get(), Verdict::Escaped);
        let excused = Verdict::ALL.into_iter().filter(|one| entry.excuses(*one));
        assert!(excused.eq([Verdict::Escaped, Verdict::Leaked]));
        let again = serde_json::to_vec(&file).unwrap();
        assert_eq!(parse::<ExpectationFile>("again", &again).unwrap(), file);
    }

    #[rstest]
    #[case::no_failure(
        "\"escaped\"",
        "\"vacuous\"",
        "mine.json:7:26: expectations[0].verdict: the verdict vacuous is no failure"
    )]
    #[case::unknown_verdict(
        "\"escaped\"",
        "\"failed\"",
        "mine.json:7:25: expectations[0].verdict: \"failed\" is no verdict"
    )]
    #[case::no_failure_either(
        "\"leaked\"",
        "\"conforms\"",
        "mine.json:8:30: expectations[0].sometimes[0]: the verdict conforms is no failure"
    )]
    #[case::no_reason(
        "it has no network namespace yet",
        " ",
        "mine.json:10:19: expectations[0].reason: the reason is empty"
    )]
    #[case::no_such_day(
        "2028-02-29",
        "2027-02-29",
        "mine.json:12:29: expectations[0].expires: \"2027-02-29\" is no day"
    )]
    #[case::another_form(
        "2028-02-29",
        "29.2.2028",
        "is no day of the calendar; write it as 2026-01-31"
    )]
    #[case::unknown_field(
        "\"rev\"",
        "\"revision\"",
        "mine.json:6:16: expectations[0].revision: unknown field `revision`"
    )]
    #[case::unknown_fact("\"root\"", "\"wheel\"", "unknown variant `wheel`")]
    fn what_is_wrong_is_named_with_its_place(
        #[case] from: &str,
        #[case] to: &str,
        #[case] message: &str,
    ) {
        let said = refusal(from, to);
        assert!(said.contains(message), "{said}");
    }

    #[test]
    fn a_time_has_a_day() {
        let leap = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(951_868_799);
        assert_eq!(Date::of(leap).unwrap().to_string(), "2000-02-29");
    }

    #[rstest]
    #[case("TODO", true)]
    #[case(" TODO: look", true)]
    #[case("It has a TODO for it.", false)]
    fn a_reason_that_is_still_to_be_written_is_told(#[case] text: &str, #[case] unwritten: bool) {
        let reason = Reason::try_from(text.to_owned()).unwrap();
        assert_eq!(reason.is_unwritten(), unwritten);
        assert!(Reason::unwritten("look").is_unwritten());
    }

    #[test]
    fn dates_compare_by_time() {
        let date = |text: &str| Date::try_from(text.to_owned()).unwrap();
        assert!(date("2026-09-30") < date("2026-10-01"));
        assert!(date("2026-12-31") < date("2027-01-01"));
    }
}
