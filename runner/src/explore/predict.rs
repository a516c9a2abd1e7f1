//! What must come of an operation, from the meaning of the policy alone.
//!
//! Nothing here knows how a launcher does it. Where the documents leave the
//! outcome open, so does this: such a place says why.

use super::inside::{Found, Stop, found, resolve};
use super::meaning::{Meaning, Reach};
use super::operation::{Call, Operation};
use super::perform::{Use, perform};
use super::world::{Layer, World, parent};

/// What must come of an operation. Later ones win over earlier ones where an
/// operation uses several paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prediction {
    /// It succeeds, and reaches the host.
    Allowed,
    /// It succeeds, and what it does stays in a directory of the command's own.
    Absorbed,
    /// The documents do not say. The host must be as the command was told.
    Either,
    /// It shows nothing: it fails, or what it finds is blank.
    Blank,
    /// It fails, and the host stays as it is.
    Denied,
    /// It leaves what is known of the host; it is not to be tried.
    Unknown,
}

/// What must come of an operation, where the files are as `world` says.
pub fn predict(meaning: &Meaning, world: &World, operation: &Operation) -> Prediction {
    let follow = !matches!(operation.call, Call::Look | Call::Target);
    let leads = resolve(meaning, world, &operation.path, follow);
    // To change directories that are there only because a grant lies in them would
    // change what every other path means.
    if !operation.call.is_look() && uses_made(meaning, world, operation) {
        return Prediction::Unknown;
    }
    if let Ok(leads) = &leads {
        if meaning.is_veiled(&leads.path) {
            return Prediction::Either;
        }
    }
    if let (true, Ok(leads)) = (operation.call.is_look(), &leads) {
        let blank = matches!(operation.call, Call::Read | Call::List | Call::Walk);
        match found(meaning, world, &leads.path) {
            // A hidden path is blank, and it is not said what a blank path is.
            Some(Found::Cover | Found::Held) if blank && !leads.uncertain => {
                return Prediction::Blank;
            }
            Some(Found::Cover | Found::Held) => return Prediction::Either,
            Some(Found::Alias(_)) if operation.call == Call::Target => return Prediction::Either,
            // A closed directory in which something is hidden may be covered.
            Some(Found::Node(_, node))
                if node.mode & 0o500 != 0o500 && meaning.is_above_hidden(&leads.path) =>
            {
                return Prediction::Either;
            }
            _ => {}
        }
    }
    if operation.call.has_two_paths()
        && operation.call != Call::Link
        && is_itself(meaning, world, operation)
    {
        return Prediction::Either;
    }
    let done = match perform(&mut world.clone(), meaning, operation) {
        Ok(done) => done,
        Err(Stop::Beyond) => return Prediction::Unknown,
        Err(Stop::Fails) => return Prediction::Denied,
    };
    let mut prediction = Prediction::Allowed;
    for (path, purpose) in &done.uses {
        prediction = prediction.max(of_use(meaning, world, path, *purpose));
    }
    // A socket in a directory that can be read answers, unless the launcher closes
    // it: a known limit, and no promise.
    let socket = operation.call == Call::ConnectSocket;
    // To move or link from one granted place into another is not promised, nor
    // where a hidden path in a directory makes it a place of its own.
    let places = match done.uses.as_slice() {
        [(from, _), (to, _)] => meaning.place(from) != meaning.place(to),
        _ => false,
    };
    if (socket || places || done.uncertain) && prediction < Prediction::Either {
        return Prediction::Either;
    }
    prediction
}

/// Whether an operation is about something in a private place that was made for a
/// grant or for the workspace, and that is the command's own to change.
fn uses_made(meaning: &Meaning, world: &World, operation: &Operation) -> bool {
    let is_made = |text: &str, follow: bool| {
        let Ok(leads) = resolve(meaning, world, text, follow) else {
            return false;
        };
        let found = found(meaning, world, &leads.path);
        meaning.reach(&leads.path) == Reach::Private
            && !is_own(&leads.path)
            && matches!(found, Some(Found::Made | Found::Alias(_)))
    };
    let second = operation.call.has_two_paths();
    is_made(&operation.path, true)
        || is_made(&operation.path, false)
        || second && is_made(operation.second(), false)
}

/// To give a file the name that it has changes nothing, and may be told to succeed
/// (rename(2)) whatever the policy says of the name; also where a hidden name is held.
fn is_itself(meaning: &Meaning, world: &World, operation: &Operation) -> bool {
    let place = |text: &str| Some(resolve(meaning, world, text, false).ok()?.path);
    let (Some(from), Some(to)) = (place(&operation.path), place(operation.second())) else {
        return false;
    };
    let number = |path: &str| world.number(Layer::Host, path);
    let is_held = || {
        let held = matches!(found(meaning, world, &from), Some(Found::Held));
        from == to && (held || meaning.is_hidden_top(&from))
    };
    number(&from).is_some() && number(&from) == number(&to) || is_held()
}

/// What the policy says of one use of a path.
fn of_use(meaning: &Meaning, world: &World, path: &str, purpose: Use) -> Prediction {
    let reach = meaning.reach(path);
    let made = |path: &str| matches!(found(meaning, world, path), Some(Found::Made));
    match (purpose, reach) {
        _ if meaning.is_veiled(path) => Prediction::Either,
        (Use::Look, Reach::Private) => Prediction::Absorbed,
        (Use::Look, _) => Prediction::Allowed,
        (_, Reach::Read | Reach::Hidden | Reach::Nothing) => Prediction::Denied,
        // A granted path is not to be replaced by something else, nor is a hidden one.
        (Use::Name, _) if meaning.is_named(path) => Prediction::Denied,
        // What something hidden lies in is not to be moved, which would bring it to
        // light. Where nothing is there yet, nobody says so.
        (Use::Name, _) if meaning.is_above_secret(path) => Prediction::Denied,
        (Use::Name | Use::Attributes, _) if meaning.is_above_named(path) => Prediction::Either,
        // The granted directory's own bits and times are not spoken of.
        (Use::Attributes, _) if meaning.is_named(path) => Prediction::Either,
        // Beside a grant, in a directory that is there only because that lies in it.
        (Use::Name, Reach::Private) if made(parent(path)) && !is_own(parent(path)) => {
            Prediction::Either
        }
        (Use::Name, _) if name_is_closed(meaning, path) => Prediction::Denied,
        (_, Reach::Private) => Prediction::Absorbed,
        (_, Reach::Write) => Prediction::Allowed,
    }
}

/// HOME, which is made for the command and is its own.
fn is_own(path: &str) -> bool {
    path == "~"
}

/// Whether the directory that a name would be in cannot be written.
fn name_is_closed(meaning: &Meaning, path: &str) -> bool {
    let above = parent(path);
    !above.is_empty() && !matches!(meaning.reach(above), Reach::Write | Reach::Private)
}
