//! The corpus is embedded in the program; a new file in it must be seen.

fn main() {
    println!("cargo:rerun-if-changed=conformance");
}
