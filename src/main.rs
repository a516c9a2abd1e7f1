//! The command `perimeter`.

fn main() {}
