//! Drives any sandbox launcher through a conformance corpus and judges by what
//! happened on the host.
