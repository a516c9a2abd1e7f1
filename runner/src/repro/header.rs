//! What a script says of itself before it does anything.

use super::launches::launcher_is_reference;
use super::text::Script;
use super::{Outcome, Recipe};
use crate::explain::{effect_words, meanings};
use crate::judge::LauncherTraits;
use crate::rehearsal::Rehearsal;

/// What shellcheck is told: each for a reason that holds for the whole script.
const DIRECTIVES: &str = "\
# shellcheck disable=SC2016 # commands of the case are quoted whole, dollar signs included
# shellcheck disable=SC2034,SC2154 # a variable may be for other cases, or set by a helper
# shellcheck disable=SC2317,SC2329 # functions are called by name, and by traps";

pub(super) fn write(script: &mut Script, recipe: Recipe<'_>, rehearsal: &Rehearsal) {
    let trial = &rehearsal.trial;
    let case = &trial.case;
    script.line("#!/bin/sh");
    script.comment("", &case.title);
    script.line("#");
    script.comment_behind("", "case      ", &trial.name);
    script.comment_behind(
        "",
        "          ",
        &format!("revision {}, digest {}", case.rev, trial.digest),
    );
    script.comment_behind(
        "",
        "launcher  ",
        &format!("{}: {}", recipe.launcher.name, recipe.launcher.about),
    );
    script.comment_behind("", "why       ", &case.why);
    for reference in &case.references {
        script.comment_behind("", "see       ", reference);
    }
    script.line("#");
    let (lead, effect) = match case.expect.outcome {
        Outcome::Allowed => ("It must be so under the launcher that", true),
        Outcome::Denied => (
            "Without a sandbox it is so, and under the launcher it must not be, that",
            true,
        ),
        Outcome::Refused => (
            "The launcher must refuse this launch, which starts its command without a sandbox.",
            false,
        ),
    };
    script.comment("", lead);
    if effect {
        for words in effect_words(&case.expect.effect) {
            script.comment_behind("", "  - ", &words);
        }
    }
    script.line("#");
    script.comment("", "What a reading means here:");
    let traits = LauncherTraits {
        refusal_status: recipe.launcher.refusal_status,
    };
    for meaning in meanings(trial, traits) {
        if !matches!(
            meaning.verdict,
            crate::verdict::Verdict::Unsupported
                | crate::verdict::Verdict::Unmeasured
                | crate::verdict::Verdict::NotApplicable
        ) {
            let lead = format!("  {:<13}", meaning.verdict.to_string());
            script.comment_behind("", &lead, &meaning.means);
        }
    }
    let lacking: Vec<String> = trial
        .needs()
        .iter()
        .filter(|need| !recipe.launcher.features.contains(need))
        .map(crate::report::word)
        .collect();
    if !lacking.is_empty() {
        script.comment(
            "",
            &format!(
                "The launcher does not claim {}, so Perimeter would not count this case: it is `unsupported`.",
                lacking.join(", ")
            ),
        );
    }
    usage(script, recipe);
    script.line(DIRECTIVES);
    script.blank();
}

fn usage(script: &mut Script, recipe: Recipe<'_>) {
    script.line("#");
    script.comment("", "Usage: sh THIS-SCRIPT [DIRECTORY]");
    script.comment(
        "",
        "Makes a directory below DIRECTORY (the user's cache directory, if none is named; not in /tmp, which a sandbox may replace), builds the fixture there, makes the launch without a sandbox and then under the launcher, says of each part of what is looked for whether it is there, and removes everything. The reading is the script's own: it follows the rules of Perimeter's judge, and nothing of Perimeter takes part in it. It ends with 0 for `conforms`, 1 for a failure, 3 for `vacuous`, and 2 where it cannot be run.",
    );
    if launcher_is_reference(recipe.launcher) {
        script.comment(
            "",
            "The reference launcher is `perimeter exec`, from $PERIMETER or PATH. Where it is not installed, the bubblewrap command line that it would use is run instead, as it was recorded on the host that this was written on. What else the launcher does is then missing: it closes descriptors, resets signals, holds the names of hidden paths that are absent, passes signals on and gives the command a terminal.",
        );
    }
}
