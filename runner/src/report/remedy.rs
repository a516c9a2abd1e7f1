//! What to do about a case that was not proven.

use super::results::TrialResult;
use super::text::{word, words};
use crate::corpus::vocabulary::Fact;
use crate::verdict::Verdict;

/// What would let the case be measured; none where the reason says it all.
pub(crate) fn remedy(trial: &TrialResult) -> Option<String> {
    match trial.verdict {
        Verdict::Vacuous => Some(String::from(
            "run where the command does its work without a sandbox: as another user, on another \
             host, or with a scratch directory on another file system; if it does it nowhere, \
             the case itself is wrong",
        )),
        Verdict::Unmeasured if !trial.missing.is_empty() => {
            let steps: Vec<_> = trial.missing.iter().map(|&fact| step(fact)).collect();
            Some(format!(
                "{}; or declare for this run that the host lacks {}",
                steps.join(", and "),
                words(&trial.missing),
            ))
        }
        _ => None,
    }
}

/// How a host comes to offer a fact.
fn step(fact: Fact) -> String {
    match fact {
        Fact::Root => String::from("run as root"),
        Fact::Unprivileged => String::from("run as another user than root"),
        Fact::TerminalInjection => {
            String::from("set the kernel parameter dev.tty.legacy_tiocsti to 1")
        }
        Fact::Ipv6Loopback => String::from("give the loopback interface the address ::1"),
        Fact::CCompiler => String::from("install a C compiler"),
        Fact::Bubblewrap => String::from("install bubblewrap"),
        Fact::Git | Fact::Python3 | Fact::Node | Fact::Make => format!("install {}", word(&fact)),
        Fact::UserNamespaces => String::from("allow this user to make user namespaces"),
        _ => format!("provide {} on this host", word(&fact)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_missing_program_is_to_be_installed_or_declared() {
        let trial = sample::trial("a.b.c", Verdict::Unmeasured).lacking(&[Fact::Git, Fact::Root]);
        assert_eq!(
            remedy(&trial).unwrap(),
            "install git, and run as root; or declare for this run that the host lacks git, root",
        );
    }

    #[test]
    fn what_is_proven_needs_no_remedy() {
        assert_eq!(remedy(&sample::trial("a.b.c", Verdict::Conforms)), None);
    }
}
