//! Results for systems that read JUnit.
