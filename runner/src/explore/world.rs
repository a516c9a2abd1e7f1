//! A model of the files that an exploration has to do with: the host's, and those
//! that are the command's own.

use std::collections::{BTreeMap, BTreeSet};

use super::scenario::Scenario;
use crate::corpus::fixture::Entry;

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A file, and what it holds; secrets by their placeholder.
    File(String),
    /// A directory.
    Directory,
    /// A symbolic link, and where it leads.
    Link(String),
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
}

impl Kind {
    /// The probe's word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Kind::File(_) => "file",
            Kind::Directory => "directory",
            Kind::Link(_) => "link",
            Kind::Pipe => "pipe",
            Kind::Socket => "socket",
        }
    }
}

/// A file, whatever its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Its permission bits.
    pub mode: u32,
    /// Whether its time was set, and nothing has changed it since.
    pub dated: bool,
}

impl Node {
    /// With the bits that such things are made with.
    pub fn new(kind: Kind) -> Node {
        let mode = match kind {
            Kind::Directory => 0o755,
            Kind::Link(_) | Kind::Socket => 0o777,
            _ => 0o644,
        };
        Node {
            kind,
            mode,
            dated: false,
        }
    }
}

/// Whose files are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// The host's.
    Host,
    /// The command's own, which go with it.
    Private,
}

/// The directories of a fixture that are always there.
pub const ALWAYS: [&str; 4] = ["workspace", "outside", "home", "state"];
/// Those that may be.
pub const PLACES: [&str; 7] = [
    "workspace",
    "outside",
    "hidden",
    "readable",
    "writable",
    "home",
    "state",
];
/// What every path of a fixture begins with.
pub const ROOT: &str = "{root}";

/// The files of the host and of the command, by paths without links.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct World {
    nodes: Vec<Node>,
    host: BTreeMap<String, usize>,
    private: BTreeMap<String, usize>,
    /// Paths of the host that are not as they were, with the directories they lie in.
    pub touched: BTreeSet<String>,
}

impl World {
    /// The host as the fixture makes it.
    pub fn of(scenario: &Scenario) -> World {
        let mut world = World::default();
        world.put(Layer::Host, ROOT, Node::new(Kind::Directory));
        let text = serde_json::to_string(scenario).unwrap_or_default();
        for place in PLACES {
            // A fixture has those that its texts mention.
            if ALWAYS.contains(&place) || text.contains(place) {
                world.make_directories(Layer::Host, &format!("{ROOT}/{place}"));
            }
        }
        for (path, entry) in &scenario.files {
            world.make_directories(Layer::Host, parent(path));
            let mut node = match entry {
                Entry::Content(text) => Node::new(Kind::File(text.clone())),
                Entry::Detailed(entry) => {
                    if let Some(other) = &entry.hard_link {
                        if let Some(node) = world.host.get(other).copied() {
                            world.host.insert(path.clone(), node);
                        }
                        continue;
                    }
                    Node::new(if let Some(name) = &entry.secret {
                        Kind::File(format!("{{secret.{name}}}\n"))
                    } else if let Some(target) = &entry.symlink {
                        Kind::Link(target.clone())
                    } else if entry.fifo {
                        Kind::Pipe
                    } else if entry.directory {
                        Kind::Directory
                    } else {
                        Kind::File(entry.content.clone().unwrap_or_default())
                    })
                }
            };
            if let Entry::Detailed(entry) = entry {
                if let Some(mode) = &entry.mode {
                    node.mode = u32::from_str_radix(mode, 8).unwrap_or(node.mode);
                }
            }
            world.put(Layer::Host, path, node);
        }
        for path in scenario.sockets.values() {
            world.make_directories(Layer::Host, parent(path));
            world.put(Layer::Host, path, Node::new(Kind::Socket));
        }
        world.touched.clear();
        world
    }

    fn map(&self, layer: Layer) -> &BTreeMap<String, usize> {
        match layer {
            Layer::Host => &self.host,
            Layer::Private => &self.private,
        }
    }

    fn map_mut(&mut self, layer: Layer) -> &mut BTreeMap<String, usize> {
        match layer {
            Layer::Host => &mut self.host,
            Layer::Private => &mut self.private,
        }
    }

    /// What is at a path.
    pub fn get(&self, layer: Layer, path: &str) -> Option<&Node> {
        let number = self.map(layer).get(path)?;
        self.nodes.get(*number)
    }

    /// The number of what is at a path; all its names have the same.
    pub fn number(&self, layer: Layer, path: &str) -> Option<usize> {
        self.map(layer).get(path).copied()
    }

    /// Every path, in order.
    pub fn paths(&self, layer: Layer) -> impl Iterator<Item = &str> {
        self.map(layer).keys().map(String::as_str)
    }

    /// What the files of the host hold.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        let nodes = self
            .paths(Layer::Host)
            .filter_map(|path| self.get(Layer::Host, path));
        nodes.filter_map(|node| match &node.kind {
            Kind::File(content) => Some(content.clone()),
            _ => None,
        })
    }

    /// The names in a directory.
    pub fn names<'a>(&'a self, layer: Layer, directory: &'a str) -> impl Iterator<Item = &'a str> {
        let beneath = format!("{directory}/");
        self.map(layer)
            .range(beneath.clone()..)
            .map(|(path, _)| path)
            .take_while(move |path| path.starts_with(&beneath))
            .filter_map(move |path| path.strip_prefix(directory)?.strip_prefix('/'))
            .filter(|name| !name.contains('/'))
    }

    /// Puts something new at a path.
    pub fn put(&mut self, layer: Layer, path: &str, node: Node) {
        self.nodes.push(node);
        let number = self.nodes.len() - 1;
        self.name(layer, path, number);
    }

    /// Makes a directory and those above it, as far as they are missing.
    pub fn make_directories(&mut self, layer: Layer, path: &str) {
        if path.is_empty() || self.map(layer).contains_key(path) {
            return;
        }
        self.make_directories(layer, parent(path));
        self.put(layer, path, Node::new(Kind::Directory));
    }

    /// Gives something a name.
    pub fn name(&mut self, layer: Layer, path: &str, number: usize) {
        self.map_mut(layer).insert(path.to_owned(), number);
        self.touch_name(layer, path);
        if layer == Layer::Host {
            self.touch(number);
        }
    }

    /// Takes a name away.
    pub fn remove(&mut self, layer: Layer, path: &str) -> Option<usize> {
        let number = self.map_mut(layer).remove(path)?;
        self.touch_name(layer, path);
        if layer == Layer::Host {
            self.touch(number);
        }
        Some(number)
    }

    /// Moves a name, and all that lies beneath it.
    pub fn rename(&mut self, from: (Layer, &str), to: (Layer, &str)) {
        let beneath = format!("{}/", from.1);
        let moved: Vec<String> = self
            .map(from.0)
            .keys()
            .filter(|path| *path == from.1 || path.starts_with(&beneath))
            .cloned()
            .collect();
        let _ = self.remove(to.0, to.1);
        for path in moved {
            if let Some(number) = self.remove(from.0, &path) {
                let rest = path.strip_prefix(from.1).unwrap_or_default();
                self.name(to.0, &format!("{}{rest}", to.1), number);
            }
        }
    }

    /// What is the command's own goes with it.
    pub fn end_command(&mut self) {
        self.private.clear();
    }

    /// Changes something by one of its names.
    pub fn change(&mut self, layer: Layer, path: &str, change: impl FnOnce(&mut Node)) {
        let Some(number) = self.map(layer).get(path).copied() else {
            return;
        };
        if let Some(node) = self.nodes.get_mut(number) {
            change(node);
        }
        if layer == Layer::Host {
            self.touch(number);
        }
    }

    /// Notes that something is not as it was, under all its names.
    fn touch(&mut self, number: usize) {
        let names = self.host.iter().filter(|(_, other)| **other == number);
        let names: Vec<String> = names.map(|(path, _)| path.clone()).collect();
        self.touched.extend(names);
    }

    fn touch_name(&mut self, layer: Layer, path: &str) {
        if layer == Layer::Host {
            self.touched.insert(path.to_owned());
            self.touched.insert(parent(path).to_owned());
            if let Some(number) = self.host.get(parent(path)).copied() {
                if let Some(node) = self.nodes.get_mut(number) {
                    node.dated = false;
                }
            }
        }
    }
}

/// The path of the directory that something lies in.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The last name of a path.
pub fn last(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Whether a path is another or lies beneath it.
pub fn is_within(path: &str, top: &str) -> bool {
    path.strip_prefix(top)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
