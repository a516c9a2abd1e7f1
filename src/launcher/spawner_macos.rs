//! Where processes are started from: anywhere. No thread's end ends a sandbox here.

/// Promises that the calling thread outlives every sandbox that it starts. Nothing
/// depends on that on macOS.
pub fn this_thread_stays() {}
