//! What an operation does to files, as the system has it (the pages of section 2
//! of the manual), where nothing but their own permission bits is in its way.
//! The command owns them all and has no capabilities.

use super::inside::{Found, Leaf, Stop, children, found, resolve, tree};
use super::meaning::{Meaning, Reach};
use super::operation::{Call, Operation};
use super::world::{Kind, Layer, Node, World, is_within, parent};

/// How an operation uses a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It looks at what is there.
    Look,
    /// It changes what a file holds.
    Content,
    /// It changes bits or times.
    Attributes,
    /// It gives what is there a second name.
    Source,
    /// It makes, moves or removes the name.
    Name,
}

/// What an operation that succeeds shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shows {
    /// Nothing.
    Nothing,
    /// This text.
    Text(String),
    /// All of these names, and perhaps some of those.
    Names(Vec<String>, Vec<String>),
    /// All that is known of these, and nothing else.
    Tree(Vec<Leaf>),
}

/// What an operation comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// What it shows.
    pub shows: Shows,
    /// The paths that it uses, without links.
    pub uses: Vec<(String, Use)>,
    /// Whether a path goes through what may be there or not.
    pub uncertain: bool,
}

/// An operation under way.
struct Attempt<'a> {
    meaning: &'a Meaning,
    world: &'a mut World,
    uses: Vec<(String, Use)>,
    uncertain: bool,
}

/// Does an operation on the model.
///
/// # Errors
/// The system refuses, or the path leaves what is known of the host. Then nothing
/// is done.
pub fn perform(world: &mut World, meaning: &Meaning, operation: &Operation) -> Result<Done, Stop> {
    let mut attempt = Attempt {
        meaning,
        world,
        uses: Vec::new(),
        uncertain: false,
    };
    let shows = attempt.run(operation)?;
    Ok(Done {
        shows,
        uses: attempt.uses,
        uncertain: attempt.uncertain,
    })
}

impl Attempt<'_> {
    fn run(&mut self, operation: &Operation) -> Result<Shows, Stop> {
        let (path, second) = (operation.path.as_str(), operation.second());
        match operation.call {
            Call::Read | Call::List | Call::Walk | Call::Look | Call::Follow | Call::Target => {
                self.look(operation.call, path)
            }
            Call::Append | Call::Truncate => {
                let path = self.resolve(path, true)?;
                let added = (operation.call == Call::Append).then_some(second);
                self.fill(&path, added)
            }
            Call::Write => {
                let path = self.resolve(path, true)?;
                if self.is_there(&path) {
                    self.write(&path, second)
                } else {
                    self.make(&path, Kind::File(format!("{second}\n")))
                }
            }
            Call::Create => self.make_at(path, Kind::File(format!("{second}\n"))),
            Call::MakeDirectory => self.make_at(path, Kind::Directory),
            Call::MakePipe => self.make_at(path, Kind::Pipe),
            Call::Symlink => self.make_at(path, Kind::Link(second.to_owned())),
            Call::MakeDirectories => {
                let path = self.resolve(path, true)?;
                if self.is_there(&path) {
                    self.uses.push((path, Use::Look));
                    return Ok(Shows::Nothing);
                }
                self.make(&path, Kind::Directory)
            }
            Call::Remove | Call::RemoveDirectory => self.remove(operation.call, path),
            Call::Rename => self.rename(path, second),
            Call::Exchange => self.exchange(path, second),
            Call::Link => self.link(path, second),
            Call::Mode | Call::Times => {
                let path = self.resolve(path, true)?;
                self.attributes(operation, path)
            }
            Call::Connect if self.meaning.network => Ok(Shows::Nothing),
            Call::Connect => Err(Stop::Fails),
            Call::ConnectSocket => {
                let path = self.resolve(path, true)?;
                match self.node(&path) {
                    Some((_, node)) if node.kind == Kind::Socket && node.mode & 0o200 != 0 => {
                        self.uses.push((path, Use::Look));
                        Ok(Shows::Nothing)
                    }
                    _ => Err(Stop::Fails),
                }
            }
        }
    }

    fn resolve(&mut self, text: &str, follow: bool) -> Result<String, Stop> {
        let resolved = resolve(self.meaning, self.world, text, follow)?;
        self.uncertain |= resolved.uncertain;
        Ok(resolved.path)
    }

    fn found(&self, path: &str) -> Option<Found<'_>> {
        found(self.meaning, self.world, path)
    }

    fn node(&self, path: &str) -> Option<(Layer, Node)> {
        match self.found(path) {
            Some(Found::Node(layer, node)) => Some((layer, node.clone())),
            _ => None,
        }
    }

    /// Whether anything is there that stands in a new name's way.
    fn is_there(&self, path: &str) -> bool {
        !matches!(self.found(path), None | Some(Found::Held))
    }

    fn look(&mut self, call: Call, text: &str) -> Result<Shows, Stop> {
        let follow = !matches!(call, Call::Look | Call::Target);
        let path = self.resolve(text, follow)?;
        let text = |text: &str| Shows::Text(text.to_owned());
        let shows = match (call, self.found(&path)) {
            (Call::List, Some(Found::Made)) => self.names(&path),
            (Call::Walk, Some(Found::Made)) => self.tree(&path),
            (Call::List, Some(Found::Node(_, node)))
                if node.kind == Kind::Directory && node.mode & 0o400 != 0 =>
            {
                self.names(&path)
            }
            (Call::Walk, Some(Found::Node(_, node)))
                if node.kind == Kind::Directory && node.mode & 0o400 != 0 =>
            {
                // Names alone can be read where a directory cannot be searched, and what
                // cannot be looked at is left out.
                if node.mode & 0o100 == 0 {
                    Shows::Tree(Vec::new())
                } else {
                    self.tree(&path)
                }
            }
            (Call::Read, Some(Found::Node(_, node))) if node.mode & 0o400 != 0 => {
                match &node.kind {
                    Kind::File(content) => text(content),
                    Kind::Pipe => text(""),
                    _ => return Err(Stop::Fails),
                }
            }
            (Call::Look | Call::Follow, Some(Found::Node(_, node))) => text(node.kind.word()),
            (Call::Look | Call::Follow, Some(Found::Made)) => text("directory"),
            (Call::Look, Some(Found::Alias(_))) => text("link"),
            (Call::Target, Some(Found::Alias(target))) => text(target),
            (Call::Target, Some(Found::Node(_, node))) => match &node.kind {
                Kind::Link(target) => text(target),
                _ => return Err(Stop::Fails),
            },
            _ => return Err(Stop::Fails),
        };
        self.uses.push((path, Use::Look));
        Ok(shows)
    }

    fn names(&self, path: &str) -> Shows {
        let (sure, possible) = children(self.meaning, self.world, path);
        Shows::Names(sure, possible)
    }

    fn tree(&self, path: &str) -> Shows {
        Shows::Tree(tree(self.meaning, self.world, path))
    }

    /// Adds to a file that is there, or empties it.
    fn fill(&mut self, path: &str, added: Option<&str>) -> Result<Shows, Stop> {
        let layer = self.writable_file(path)?;
        self.world.change(layer, path, |node| {
            node.dated = false;
            if let Kind::File(content) = &mut node.kind {
                match added {
                    Some(text) => content.push_str(&format!("{text}\n")),
                    None => content.clear(),
                }
            }
        });
        self.uses.push((path.to_owned(), Use::Content));
        Ok(Shows::Nothing)
    }

    fn write(&mut self, path: &str, text: &str) -> Result<Shows, Stop> {
        let layer = self.writable_file(path)?;
        self.world.change(layer, path, |node| {
            node.dated = false;
            node.kind = Kind::File(format!("{text}\n"));
        });
        self.uses.push((path.to_owned(), Use::Content));
        Ok(Shows::Nothing)
    }

    fn writable_file(&self, path: &str) -> Result<Layer, Stop> {
        match self.node(path) {
            Some((layer, node)) if matches!(node.kind, Kind::File(_)) && node.mode & 0o200 != 0 => {
                Ok(layer)
            }
            _ => Err(Stop::Fails),
        }
    }

    fn make_at(&mut self, text: &str, kind: Kind) -> Result<Shows, Stop> {
        let path = self.resolve(text, false)?;
        if self.is_there(&path) {
            return Err(Stop::Fails);
        }
        self.make(&path, kind)
    }

    fn make(&mut self, path: &str, kind: Kind) -> Result<Shows, Stop> {
        self.holds_names(path)?;
        let layer = self.layer(path);
        self.world.put(layer, path, Node::new(kind));
        self.uses.push((path.to_owned(), Use::Name));
        Ok(Shows::Nothing)
    }

    /// Whether names can be made and removed beside a path.
    fn holds_names(&self, path: &str) -> Result<(), Stop> {
        match self.found(parent(path)) {
            Some(Found::Made) => Ok(()),
            Some(Found::Node(_, node))
                if node.kind == Kind::Directory && node.mode & 0o300 == 0o300 =>
            {
                Ok(())
            }
            None if parent(path).is_empty() => Ok(()),
            _ => Err(Stop::Fails),
        }
    }

    fn layer(&self, path: &str) -> Layer {
        match self.meaning.reach(path) {
            Reach::Private => Layer::Private,
            _ => Layer::Host,
        }
    }

    fn remove(&mut self, call: Call, text: &str) -> Result<Shows, Stop> {
        let path = self.resolve(text, false)?;
        self.holds_names(&path)?;
        let directory = match self.found(&path) {
            Some(Found::Node(layer, node)) => {
                let directory = node.kind == Kind::Directory;
                if directory && self.world.names(layer, &path).next().is_some() {
                    return Err(Stop::Fails);
                }
                directory
            }
            Some(Found::Alias(_)) => false,
            _ => return Err(Stop::Fails),
        };
        if directory != (call == Call::RemoveDirectory) {
            return Err(Stop::Fails);
        }
        let layer = self.layer(&path);
        let _ = self.world.remove(layer, &path);
        self.uses.push((path, Use::Name));
        Ok(Shows::Nothing)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<Shows, Stop> {
        let from = self.resolve(from, false)?;
        let to = self.resolve(to, false)?;
        let Some((layer, moved)) = self.node(&from) else {
            return Err(Stop::Fails);
        };
        self.holds_names(&from)?;
        self.holds_names(&to)?;
        let is_directory = moved.kind == Kind::Directory;
        if is_directory && (is_within(&to, &from) && to != from) {
            return Err(Stop::Fails);
        }
        // To move a directory is to change its `..`.
        if is_directory && parent(&from) != parent(&to) && moved.mode & 0o200 == 0 {
            return Err(Stop::Fails);
        }
        let target = self.layer(&to);
        match self.found(&to) {
            None | Some(Found::Held) => {}
            Some(Found::Node(other, node)) => {
                let in_place = node.kind == Kind::Directory;
                let full = in_place && self.world.names(other, &to).next().is_some();
                let same = self.world.number(layer, &from) == self.world.number(other, &to);
                if layer == other && same {
                    self.uses.push((from, Use::Name));
                    self.uses.push((to, Use::Name));
                    return Ok(Shows::Nothing);
                }
                if in_place != is_directory || full {
                    return Err(Stop::Fails);
                }
            }
            Some(_) => return Err(Stop::Fails),
        }
        self.world.rename((layer, &from), (target, &to));
        self.uses.push((from, Use::Name));
        self.uses.push((to, Use::Name));
        Ok(Shows::Nothing)
    }

    fn exchange(&mut self, one: &str, other: &str) -> Result<Shows, Stop> {
        let one = self.resolve(one, false)?;
        let other = self.resolve(other, false)?;
        let (Some((layer, first)), Some((target, second))) = (self.node(&one), self.node(&other))
        else {
            return Err(Stop::Fails);
        };
        self.holds_names(&one)?;
        self.holds_names(&other)?;
        if is_within(&one, &other) || is_within(&other, &one) {
            return Err(Stop::Fails);
        }
        let fixed = |node: &Node| node.kind == Kind::Directory && node.mode & 0o200 == 0;
        if parent(&one) != parent(&other) && (fixed(&first) || fixed(&second)) {
            return Err(Stop::Fails);
        }
        // A name that nothing else has.
        let aside = format!("{}/\0", parent(&one));
        self.world.rename((layer, &one), (layer, &aside));
        self.world.rename((target, &other), (layer, &one));
        self.world.rename((layer, &aside), (target, &other));
        self.uses.push((one, Use::Name));
        self.uses.push((other, Use::Name));
        Ok(Shows::Nothing)
    }

    fn link(&mut self, from: &str, to: &str) -> Result<Shows, Stop> {
        let from = self.resolve(from, false)?;
        let to = self.resolve(to, false)?;
        let Some((layer, node)) = self.node(&from) else {
            return Err(Stop::Fails);
        };
        if node.kind == Kind::Directory || self.is_there(&to) {
            return Err(Stop::Fails);
        }
        self.holds_names(&to)?;
        let target = self.layer(&to);
        if let (true, Some(number)) = (layer == target, self.world.number(layer, &from)) {
            self.world.name(target, &to, number);
        }
        self.uses.push((from, Use::Source));
        self.uses.push((to, Use::Name));
        Ok(Shows::Nothing)
    }

    fn attributes(&mut self, operation: &Operation, path: String) -> Result<Shows, Stop> {
        let layer = match self.found(&path) {
            Some(Found::Node(layer, _)) => Some(layer),
            Some(Found::Made) => None,
            _ => return Err(Stop::Fails),
        };
        if let Some(layer) = layer {
            let mode = u32::from_str_radix(operation.second(), 8).ok();
            self.world.change(layer, &path, |node| match mode {
                Some(mode) => node.mode = mode,
                None => node.dated = true,
            });
        }
        self.uses.push((path, Use::Attributes));
        Ok(Shows::Nothing)
    }
}
