//! What the paths of a Mac lead to.

use std::collections::{BTreeMap, VecDeque};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::Action;
use super::semantics::{Rule, Semantics};

/// More links on one way than a Mac follows (`MAXSYMLINKS`).
const MOST_LINKS: usize = 32;

/// `macos/world.json`: a usual Mac.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorldFile {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// What the file is.
    pub about: String,
    /// Whether the boot volume takes names that differ in case alone for the same.
    pub folds_case: bool,
    /// Symbolic links.
    pub links: Vec<LinkEntry>,
    /// Paths that are another spelling of a path, without a link in between.
    pub firmlinks: Vec<FirmlinkEntry>,
    /// What the start of every program reads.
    pub start: StartEntry,
    /// Programs whose start needs more than that.
    pub programs: Vec<ProgramEntry>,
    /// The terminal devices.
    pub terminals: TerminalEntry,
    /// The path of the socket by which names are looked up, as programs spell it.
    pub name_service: NameService,
}

/// A symbolic link.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkEntry {
    /// Where it is.
    pub path: String,
    /// What it says.
    pub target: String,
    /// Where that is known from.
    pub source: String,
}

/// A firmlink.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirmlinkEntry {
    /// The other spelling.
    pub from: String,
    /// The path that rules are asked for.
    pub to: String,
    /// Where that is known from.
    pub source: String,
}

/// What the start of every program reads.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartEntry {
    /// The directory that the loader opens.
    pub root: String,
    /// The loader and its cache.
    pub loader: Vec<String>,
    /// Where that is known from.
    pub source: String,
}

/// A program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramEntry {
    /// Where it is.
    pub path: String,
    /// Files that its start reads besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// For a script: the program of its first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<String>,
    /// Whether it runs as its owner (the set-user-ID bit).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub set_user_id: bool,
    /// Where that is known from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// The terminal devices.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminalEntry {
    /// The device that makes a new pair.
    pub multiplexer: String,
    /// The other side of a new pair.
    pub device: String,
    /// Where that is known from.
    pub source: String,
}

/// How names are looked up.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameService {
    /// The socket's path.
    pub socket: String,
    /// Where that is known from.
    pub source: String,
}

/// What a fact or a case adds to a usual Mac.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Additions {
    /// Symbolic links, by path.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub links: IndexMap<String, String>,
    /// Programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramEntry>,
    /// Files that are there, with their content; the model does not need them.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub files: IndexMap<String, String>,
    /// Directories that are there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
    /// Other names of files that are there, by path.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub hard_links: IndexMap<String, String>,
}

impl Additions {
    /// Whether it adds nothing.
    pub fn is_empty(&self) -> bool {
        *self == Additions::default()
    }
}

/// The paths of a Mac, as one run of actions finds and changes them.
#[derive(Debug, Clone)]
pub struct World {
    pub(super) folds_case: bool,
    links: BTreeMap<String, String>,
    /// Files of two names, by the second.
    names: BTreeMap<String, String>,
    firmlinks: Vec<(String, String)>,
    pub(super) start: StartEntry,
    pub(super) programs: BTreeMap<String, ProgramEntry>,
    pub(super) terminals: TerminalEntry,
    pub(super) name_service: String,
}

/// A path with every link resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resolved {
    /// The path that rules are asked for.
    pub(super) path: String,
    /// The links on the way, each by its own real path.
    pub(super) nodes: Vec<String>,
}

impl World {
    /// A usual Mac.
    pub fn new(file: &WorldFile) -> World {
        let links = file.links.iter();
        let firmlinks = file.firmlinks.iter();
        let programs = file.programs.iter();
        World {
            folds_case: file.folds_case,
            links: links
                .map(|link| (link.path.clone(), link.target.clone()))
                .collect(),
            names: BTreeMap::new(),
            firmlinks: firmlinks
                .map(|link| (link.from.clone(), link.to.clone()))
                .collect(),
            start: file.start.clone(),
            programs: programs
                .map(|program| (program.path.clone(), program.clone()))
                .collect(),
            terminals: file.terminals.clone(),
            name_service: file.name_service.socket.clone(),
        }
    }

    /// The same with more in it.
    #[must_use]
    pub fn with(mut self, additions: &Additions) -> World {
        let links = additions.links.iter();
        self.links
            .extend(links.map(|(path, target)| (path.clone(), target.clone())));
        let names = additions.hard_links.iter();
        self.names
            .extend(names.map(|(path, file)| (path.clone(), file.clone())));
        for program in &additions.programs {
            self.programs.insert(program.path.clone(), program.clone());
        }
        self
    }

    /// Adds a symbolic link.
    pub fn link(&mut self, path: &str, target: &str) {
        self.links.insert(path.to_owned(), target.to_owned());
    }

    /// The symbolic links that a usual Mac has not, by path.
    pub fn links_beside(&self, usual: &WorldFile) -> BTreeMap<String, String> {
        let mut links = self.links.clone();
        links.retain(|path, _| usual.links.iter().all(|link| link.path != *path));
        links
    }

    /// What an action that succeeds changes of what paths lead to.
    pub fn change(&mut self, action: &Action) {
        // The last part of these is not followed.
        let place = |world: &World, path: &str| {
            let resolved = world.resolve(path, false, Semantics::default());
            resolved.map_or_else(|_| path.to_owned(), |resolved| resolved.path)
        };
        match action {
            Action::Rename(paths) => {
                let (from, to) = (place(self, &paths.from), place(self, &paths.to));
                self.links.remove(&to);
                self.rename(&from, &to);
            }
            Action::Remove(path) => {
                let path = place(self, path);
                let stays = |one: &String| {
                    one.strip_prefix(path.as_str())
                        .is_none_or(|rest| !(rest.is_empty() || rest.starts_with('/')))
                };
                self.links.retain(|link, _| stays(link));
                self.names.retain(|name, _| stays(name));
            }
            Action::SymlinkTo(link) => {
                let path = place(self, &link.at);
                self.links.insert(path, link.to.clone());
            }
            _ => {}
        }
    }

    /// Resolves a path as the kernel does; `follow` says whether a link at its end is
    /// followed too.
    pub(super) fn resolve(
        &self,
        path: &str,
        follow: bool,
        semantics: Semantics,
    ) -> Result<Resolved, String> {
        if !path.starts_with('/') {
            return Err(format!("{path} is no absolute path"));
        }
        let mut rest: VecDeque<String> = parts(path);
        let mut current = String::from("/");
        let mut nodes = Vec::new();
        while let Some(part) = rest.pop_front() {
            if part == ".." {
                let parent = current.rfind('/').unwrap_or(0);
                current.truncate(parent.max(1));
                continue;
            }
            let next = self.spelled(&join(&current, &part), semantics);
            let target = self.links.get(&next);
            match target {
                Some(target) if !rest.is_empty() || follow => {
                    if nodes.len() >= MOST_LINKS {
                        return Err(format!("{path} leads through too many links"));
                    }
                    if target.starts_with('/') {
                        current = String::from("/");
                    }
                    for part in parts(target).into_iter().rev() {
                        rest.push_front(part);
                    }
                    nodes.push(next);
                }
                _ => current = next,
            }
        }
        if !semantics.has(Rule::NameNotFile) {
            current = self.names.get(&current).cloned().unwrap_or(current);
        }
        if !semantics.has(Rule::RealPath) {
            current = path.to_owned();
        }
        if !semantics.has(Rule::LinkNodes) {
            nodes.clear();
        }
        Ok(Resolved {
            path: current,
            nodes,
        })
    }

    /// A path in the spelling that rules are asked for.
    fn spelled(&self, path: &str, semantics: Semantics) -> String {
        if semantics.has(Rule::Firmlinks) {
            for (from, to) in &self.firmlinks {
                if let Some(rest) = path.strip_prefix(from.as_str()) {
                    if rest.is_empty() || rest.starts_with('/') {
                        return format!("{to}{rest}");
                    }
                }
            }
        }
        path.to_owned()
    }

    /// Moves what is at and below a path.
    fn rename(&mut self, from: &str, to: &str) {
        let moved = |path: &String| {
            let rest = path.strip_prefix(from)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
        };
        let links = std::mem::take(&mut self.links).into_iter();
        self.links = links
            .map(|(path, target)| (moved(&path).unwrap_or(path), target))
            .collect();
        let names = std::mem::take(&mut self.names).into_iter();
        self.names = names
            .map(|(path, file)| (moved(&path).unwrap_or(path), file))
            .collect();
        let programs = std::mem::take(&mut self.programs).into_iter();
        self.programs = programs
            .map(|(path, program)| (moved(&path).unwrap_or(path), program))
            .collect();
    }
}

fn parts(path: &str) -> VecDeque<String> {
    let parts = path.split('/');
    parts
        .filter(|part| !part.is_empty() && *part != ".")
        .map(str::to_owned)
        .collect()
}

fn join(directory: &str, name: &str) -> String {
    if directory == "/" {
        format!("/{name}")
    } else {
        format!("{directory}/{name}")
    }
}

/// Every parent of a path below the root, from the top.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(end, _)| end);
    ends.filter(|end| *end > 0).map(|end| &path[..end])
}
