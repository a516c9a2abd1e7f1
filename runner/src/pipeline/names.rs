//! The placeholders of one attempt.

use crate::corpus::placeholder::{PlaceholderError, Unknown, expand};
use crate::fixture::Names;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value with those placeholders replaced that are known already.
pub(crate) fn expand_known<T: Serialize + DeserializeOwned>(
    template: &T,
    names: &Names,
) -> Result<T, PlaceholderError> {
    expand(
        template,
        &|name| names.get(name).map(str::to_owned),
        Unknown::Keep,
    )
}

/// A value with every placeholder replaced.
pub(crate) fn expand_all<T: Serialize + DeserializeOwned>(
    template: &T,
    names: &Names,
) -> Result<T, PlaceholderError> {
    expand(
        template,
        &|name| names.get(name).map(str::to_owned),
        Unknown::Refuse,
    )
}
