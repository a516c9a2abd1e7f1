//! The rules of meaning that the model is made of.

/// A rule of the semantics. Each can be switched off, so that a test can show that
/// the known outcomes need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Rule {
    /// The rules of the operation itself come before those of a wider one.
    OperationFirst,
    /// Of the rules of one operation, the last that matches decides.
    LastMatch,
    /// Where no rule of an operation matches, those of a wider one are asked.
    Fallback,
    /// Some operations end in an answer of their own, and not in the default.
    Terminal,
    /// Some rules are part of every profile.
    Always,
    /// Old and short names of operations mean the operations of today.
    Aliases,
    /// Several filters of one rule are alternatives.
    AnyFilter,
    /// `require-all` wants all of its filters.
    RequireAll,
    /// `require-any` wants one of its filters.
    RequireAny,
    /// `require-not` turns its filter round.
    RequireNot,
    /// A subpath is a path and what is below it, not every text that begins so.
    SubpathBoundary,
    /// A subpath matches the path itself, and not only what is below it.
    SubpathItself,
    /// Rules are asked for the real path, with every link resolved.
    RealPath,
    /// Each link on the way is checked for reading its metadata.
    LinkNodes,
    /// Paths of the data volume are those of the root, where a firmlink leads.
    Firmlinks,
    /// `localhost` is the loopback addresses alone.
    Localhost,
    /// A port that is not `*` is that port alone.
    Ports,
    /// Connecting to a socket's path is a matter of the network, not of files.
    SocketIsNetwork,
    /// Binding a socket's path is a matter of the network too.
    BindIsNetwork,
    /// A program's start reads the directory `/`.
    RootOfStart,
    /// A program's start reads the loader and its cache.
    LoaderOfStart,
    /// A program's start reads what that program needs, as the world tells it.
    NeedsOfStart,
    /// The start of a script starts its interpreter.
    Interpreter,
    /// A program with the set-user-ID bit never starts in a sandbox.
    SetUserId,
    /// Renaming removes the old name.
    RenameRemoves,
    /// Renaming makes the new name.
    RenameCreates,
    /// A file with two names is judged by the one that is used.
    NameNotFile,
    /// The real path of a file is found by looking at each of its parents.
    Ancestors,
    /// Reading another's arguments needs information about its process.
    ProcessArguments,
    /// A terminal's modes are a matter of their own, beside reading and writing.
    TerminalModes,
    /// A pseudo-terminal is opened by writing to its device.
    TerminalDevice,
    /// A sandbox inside of another is refused.
    Nested,
    /// A profile begins with its version.
    Version,
    /// Filters are typed: a parameter that is not set is no path.
    Types,
    /// A system's profile that is imported adds its rules.
    Imports,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 35] = [
        Rule::OperationFirst,
        Rule::LastMatch,
        Rule::Fallback,
        Rule::Terminal,
        Rule::Always,
        Rule::Aliases,
        Rule::AnyFilter,
        Rule::RequireAll,
        Rule::RequireAny,
        Rule::RequireNot,
        Rule::SubpathBoundary,
        Rule::SubpathItself,
        Rule::RealPath,
        Rule::LinkNodes,
        Rule::Firmlinks,
        Rule::Localhost,
        Rule::Ports,
        Rule::SocketIsNetwork,
        Rule::BindIsNetwork,
        Rule::RootOfStart,
        Rule::LoaderOfStart,
        Rule::NeedsOfStart,
        Rule::Interpreter,
        Rule::SetUserId,
        Rule::RenameRemoves,
        Rule::RenameCreates,
        Rule::NameNotFile,
        Rule::Ancestors,
        Rule::ProcessArguments,
        Rule::TerminalModes,
        Rule::TerminalDevice,
        Rule::Nested,
        Rule::Version,
        Rule::Types,
        Rule::Imports,
    ];
}

/// The rules that are in force: all, except in tests of the model itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Semantics {
    without: Option<Rule>,
}

impl Semantics {
    /// Every rule but one.
    pub fn without(rule: Rule) -> Semantics {
        Semantics {
            without: Some(rule),
        }
    }

    /// Whether a rule is in force.
    pub fn has(self, rule: Rule) -> bool {
        self.without != Some(rule)
    }
}
