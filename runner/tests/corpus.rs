//! The committed corpus reads without a fault.

use std::path::Path;

use perimeter_runner::corpus::{Corpus, Source};

/// Everything below `conformance/` fits the types and contradicts nothing.
#[test]
fn the_committed_corpus_is_consistent() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    match Corpus::load(&Source::Directory(directory)) {
        Ok(corpus) => assert!(
            !corpus.requirements.is_empty(),
            "requirements.json is missing"
        ),
        Err(error) => panic!("{error}"),
    }
}
