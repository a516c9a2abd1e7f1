//! The grants as mounts.

use super::{Content, Grants, View};

/// Adds the mounts of the grants.
pub(super) fn add(view: &mut View, grants: &Grants) {
    for grant in &grants.list {
        view.insert_asked(
            grant.path.clone(),
            Content::Host {
                source: grant.path.clone(),
                access: grant.access,
                pin: Some(grant.pin.clone()),
            },
        );
    }
}

/// Makes the workspace's own spelling work inside, where it goes through a link.
pub(super) fn add_spelling(view: &mut View, grants: &Grants) {
    if grants.spelling == grants.workspace {
        return;
    }
    let made = view.covering(&grants.spelling).is_some_and(|mount| {
        matches!(
            mount.content,
            Content::Private { .. } | Content::Directory { .. }
        )
    });
    if made {
        let target = grants.workspace.clone();
        view.insert(grants.spelling.clone(), Content::Link { target });
    }
}
