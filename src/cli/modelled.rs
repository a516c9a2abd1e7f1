//! `perimeter check --modelled`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use perimeter_runner::corpus::vocabulary::Platform;
use perimeter_runner::exit::ExitCode as RunCode;
use perimeter_runner::modelled::{self, ModelledRun, Modeller};
use perimeter_runner::report::results::{
    Contract, CorpusRecord, FORMAT, LauncherRecord, SuiteRecord, timestamp,
};
use perimeter_runner::session::levels;

use super::arguments::Check;
use super::corpus::{launcher, load, select, source};
use super::failure::{Failure, USAGE};
use super::print::print;

/// Asks the model about each selected trial of macOS, and reports.
pub fn run(check: &Check) -> Result<ExitCode, Failure> {
    if check.platform != Some(Platform::Macos) {
        return Err(Failure::new(
            USAGE,
            "only macOS is modelled; name it with --platform macos",
        ));
    }
    let directory = check.selection.corpus.as_deref();
    let corpus = load(directory)?;
    let mut trials = select(&corpus, &check.selection.filters)?;
    trials.retain(|trial| trial.case.platforms.contains(&Platform::Macos));
    if trials.is_empty() {
        return Err(Failure::new(
            RunCode::Nothing.code(),
            "none of the selected cases is for macOS",
        ));
    }
    let launcher = launcher(&corpus, check.launcher())?;
    let contract = Contract {
        levels: levels(&launcher, check.level),
        filters: check.selection.filters.clone(),
        ..Contract::default()
    };
    let perimeter = std::env::current_exe().map_err(|error| {
        Failure::new(
            RunCode::Harness.code(),
            format_args!("cannot find this program's own file: {error}"),
        )
    })?;
    let run = ModelledRun {
        format: FORMAT,
        suite: SuiteRecord {
            name: "perimeter".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        corpus: CorpusRecord {
            digest: corpus.digest.clone(),
            directory: directory.map(|path| path.display().to_string()),
            trials: corpus.trials.len(),
        },
        launcher: LauncherRecord {
            name: launcher.name.clone(),
            version: None,
            levels: launcher.levels.clone(),
        },
        platform: Platform::Macos,
        started: timestamp(SystemTime::now()),
        contract: contract.clone(),
        selected: trials.len(),
    };
    let mut modeller = Modeller::new(&source(directory), &launcher, contract, perimeter, None)
        .map_err(|error| Failure::new(USAGE, error))?;
    let mut results: Vec<_> = trials.iter().map(|trial| modeller.decide(trial)).collect();
    results.sort_by(|one, other| one.trial.cmp(&other.trial));
    if let Some(path) = &check.results {
        let lines = modelled::lines(&run, &results)
            .map_err(|error| Failure::new(RunCode::Harness.code(), error))?;
        write(path, &lines)?;
    }
    if let Some(path) = &check.summary {
        write(path, &modelled::markdown(&run, &results))?;
    }
    print(modelled::text(&run, &results, check.quiet).as_bytes())?;
    Ok(modelled::exit_code(&results).into())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| {
        Failure::new(
            USAGE,
            format_args!(
                "{}: {error}; name a file that can be written",
                path.display()
            ),
        )
    })
}
