//! The corpus inside the program, so that whoever has the program has the cases.

use include_dir::{Dir, include_dir};

use super::source::Source;

// A link to the corpus of this project; a package of this crate holds the files.
static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/conformance");

impl Source {
    /// The corpus that comes with this library. It needs the feature `corpus`.
    pub fn embedded() -> Source {
        fn gather(directory: &'static Dir<'static>, files: &mut Vec<(String, &'static [u8])>) {
            files.extend(directory.files().map(|file| {
                let name = file.path().to_string_lossy().into_owned();
                (name, file.contents())
            }));
            for inner in directory.dirs() {
                gather(inner, files);
            }
        }
        let mut files = Vec::new();
        gather(&EMBEDDED, &mut files);
        Source::Embedded(files)
    }
}
