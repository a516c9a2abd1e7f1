//! A summary for the page of a CI job.
