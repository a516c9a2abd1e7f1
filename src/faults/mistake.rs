//! The mistakes, by name, and the one that this process makes.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// The one that is made. Nothing but [`make`] sets it.
static MADE: OnceLock<Mistake> = OnceLock::new();

/// Has this process make a mistake. The first call decides.
pub fn make(mistake: Mistake) {
    let _ = MADE.set(mistake);
}

/// The mistake that this process makes.
pub(super) fn made() -> Mistake {
    MADE.get().copied().unwrap_or(Mistake::None)
}

/// No mistake has this name.
#[derive(Debug, thiserror::Error)]
#[error("{name:?} is no mistake")]
pub struct UnknownMistake {
    name: String,
}

impl FromStr for Mistake {
    type Err = UnknownMistake;

    fn from_str(name: &str) -> Result<Mistake, UnknownMistake> {
        let found = Mistake::ALL.iter().find(|mistake| mistake.name() == name);
        found.copied().ok_or_else(|| UnknownMistake {
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

macro_rules! mistakes {
    ($($(#[doc = $about:literal])+ $mistake:ident = $name:literal,)+) => {
        /// What a wrong launcher does wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Mistake {
            $($(#[doc = $about])+ $mistake,)+
        }

        impl Mistake {
            /// All of them.
            pub const ALL: &'static [Mistake] = &[$(Mistake::$mistake),+];

            /// The name by which `perimeter-faulty` and the files of the faults know it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Mistake::$mistake => $name,)+
                }
            }
        }
    };
}

mistakes! {
    /// Nothing: the control, which has to behave as the reference launcher does.
    None = "none",

    // What bubblewrap is started with.
    /// Descriptors that the caller left open reach the command.
    DescriptorsKept = "descriptors-kept",
    /// A standard stream that is a directory reaches the command.
    DirectoryStreamsKept = "directory-streams-kept",
    /// bubblewrap gets the caller's environment and clears it for the command alone.
    EnvironmentClearedInside = "environment-cleared-inside",
    /// Signals that the caller ignores are ignored by the command.
    SignalsIgnored = "signals-ignored",
    /// Signals that the caller blocks are blocked for the command.
    SignalsBlocked = "signals-blocked",
    /// The command is in the caller's session keyring.
    KeyringKept = "keyring-kept",
    /// The thread that started the sandbox ends before the command does.
    StartingThreadEnds = "starting-thread-ends",
    /// The command may begin with a dash, and bubblewrap takes it for an option.
    SeparatorLeftOut = "separator-left-out",

    // Namespaces, rights and sessions.
    /// The sandbox is in the caller's user namespace, without capabilities.
    UserNamespaceShared = "user-namespace-shared",
    /// The sandbox sees the host's processes.
    ProcessNamespaceShared = "process-namespace-shared",
    /// The sandbox shares System V IPC and POSIX message queues with the host.
    IpcNamespaceShared = "ipc-namespace-shared",
    /// The sandbox shares the host's name.
    HostNameShared = "host-name-shared",
    /// The sandbox shares the host's view of control groups.
    ControlGroupNamespaceShared = "control-group-namespace-shared",
    /// No network is a matter of proxy variables.
    NetworkByVariables = "network-by-variables",
    /// The command may make user namespaces.
    NestedNamespacesAllowed = "nested-namespaces-allowed",
    /// The command of the super-user has every capability in its namespaces.
    CapabilitiesKept = "capabilities-kept",
    /// The command of the super-user is the super-user, with every capability of the host.
    SuperUserKept = "super-user-kept",
    /// The command of the super-user is the super-user among the host's processes.
    SuperUserAmongProcesses = "super-user-among-processes",
    /// The command is in the session of the caller's terminal.
    SessionShared = "session-shared",
    /// A command that is to have a terminal gets the caller's.
    TerminalShared = "terminal-shared",
    /// What is reported as a sandbox is not looked at.
    SandboxNotLookedAt = "sandbox-not-looked-at",
    /// Where things come to be mounted is not looked at.
    MountsNotLookedAt = "mounts-not-looked-at",

    // The end.
    /// Nothing ends the command when the launcher is killed.
    OutlivesLauncher = "outlives-launcher",
    /// Nothing ends the command when the launcher's caller is killed.
    OutlivesCaller = "outlives-caller",
    /// The end of the thread that started the launcher is taken for the end of the caller.
    CallerThreadMistaken = "caller-thread-mistaken",
    /// Nobody cleans up after a launcher that is killed.
    JanitorAbsent = "janitor-absent",
    /// A signal that asks the launcher to end is swallowed.
    SignalsSwallowed = "signals-swallowed",

    // Exit status.
    /// Every failure is reported as 1.
    FailureIsOne = "failure-is-one",
    /// Every failure is reported as success.
    FailureIsSuccess = "failure-is-success",
    /// The status is held in a signed byte, and 255 stands for what is negative.
    StatusSigned = "status-signed",
    /// A program that is not there is left to bubblewrap to find out.
    ProgramNotLookedFor = "program-not-looked-for",

    // Grants.
    /// The directory above the workspace is mounted in its place.
    WorkspaceParentWritable = "workspace-parent-writable",
    /// Everything that can be seen is writable, but for what is granted for reading.
    SystemWritable = "system-writable",
    /// What is granted for reading is writable.
    ReadableGrantsWritable = "readable-grants-writable",
    /// A file is granted by granting its directory.
    FileGrantsWidened = "file-grants-widened",
    /// What does not exist is granted by granting the nearest directory that does.
    MissingGrantsWidened = "missing-grants-widened",
    /// The directory to start in is writable, wherever it is.
    DirectoryGranted = "directory-granted",
    /// A grant that is a link, or goes through one, grants what it leads to.
    LinksFollowed = "links-followed",
    /// A grant is checked by its path, and mounted by its path later.
    CheckedThenMounted = "checked-then-mounted",
    /// What holds the policy, the home or the system is accepted as a workspace.
    AnythingWritable = "anything-writable",
    /// Grants may overlap, and the last one holds.
    OverlapsAccepted = "overlaps-accepted",
    /// The host's processes and devices may be granted.
    InterfacesGranted = "interfaces-granted",
    /// A workspace `A:B` is read as the directory A and the grant B, as container engines do.
    NamesSplit = "names-split",

    // What the sandbox shares.
    /// The host's /tmp is the command's.
    TemporaryShared = "temporary-shared",
    /// The host's /dev/shm is the command's.
    SharedMemoryShared = "shared-memory-shared",
    /// The host's /dev is the command's.
    HostDevices = "host-devices",
    /// The host's /proc is the command's.
    HostProcesses = "host-processes",
    /// /sys is there, and writable.
    SysWritable = "sys-writable",
    /// The kernel's settings in /proc are left as they are for the super-user's command.
    KernelSettingsWritable = "kernel-settings-writable",
    /// What only the super-user may read is left in the view of the super-user's command.
    KeptFilesShown = "kept-files-shown",
    /// The root that the sandbox was made in stays mounted.
    OldRootKept = "old-root-kept",
    /// The caller's home is the command's, writable.
    HomeShared = "home-shared",
    /// The root of a strict view takes writes, which vanish.
    RootTakesWrites = "root-takes-writes",

    // Hidden paths.
    /// Hidden paths are not hidden.
    HiddenIgnored = "hidden-ignored",
    /// Paths are hidden first, and the grants are mounted over them.
    HiddenBeforeGrants = "hidden-before-grants",
    /// A hidden directory takes writes, which vanish.
    HiddenTakesWrites = "hidden-takes-writes",
    /// The directories above a hidden path can be moved.
    HiddenParentsMovable = "hidden-parents-movable",
    /// A hidden path that does not exist is passed over.
    AbsentHiddenSkipped = "absent-hidden-skipped",
    /// A hidden path that is a link, or goes through one, is passed over.
    LinkedHiddenSkipped = "linked-hidden-skipped",
    /// A hidden path that is no directory is passed over.
    HiddenFilesSkipped = "hidden-files-skipped",
    /// A hidden path in a directory that the caller cannot enter is passed over.
    ClosedHiddenSkipped = "closed-hidden-skipped",
    /// A hidden path that is absent from a directory that the caller cannot write is passed
    /// over.
    UnwritableHiddenSkipped = "unwritable-hidden-skipped",
    /// A hidden path is hidden by the name that the policy has for it alone.
    MountedElsewhereShown = "mounted-elsewhere-shown",
    /// A hidden directory that holds a grant or the workspace is passed over.
    HiddenAncestorsSkipped = "hidden-ancestors-skipped",
    /// A hidden path within a grant or the workspace is passed over.
    HiddenInGrantsSkipped = "hidden-in-grants-skipped",
    /// A hidden directory covers the grants in it.
    HiddenCoversGrants = "hidden-covers-grants",
    /// A hidden path that does not exist stops the launch.
    AbsentHiddenFatal = "absent-hidden-fatal",
    /// bubblewrap is told to mount over a hidden path that does not exist, and makes it.
    MountPointsLeft = "mount-points-left",
    /// A directory is made wherever a hidden path does not exist, while the command runs.
    PlaceholdersEverywhere = "placeholders-everywhere",
    /// What was made to hold a hidden name is left behind.
    PlaceholdersLeft = "placeholders-left",

    // The policy and its document.
    /// A command never has a network.
    NetworkNever = "network-never",
    /// Every command sees the whole host.
    AlwaysHostReadable = "always-host-readable",
    /// Every command is strict.
    AlwaysStrict = "always-strict",
    /// A policy cannot switch the sandbox off.
    EnabledIgnored = "enabled-ignored",
    /// A policy has to switch the sandbox on.
    DisabledUnlessSaid = "disabled-unless-said",
    /// Without a document there is no sandbox.
    DisabledWithoutDocument = "disabled-without-document",
    /// Without a document nothing is launched.
    DocumentDemanded = "document-demanded",
    /// Fields that are not known are passed over.
    UnknownFieldsPassedOver = "unknown-fields-passed-over",
    /// Any version, or none, will do.
    VersionNotRead = "version-not-read",
    /// Values that are not understood are passed over.
    ValuesPassedOver = "values-passed-over",
    /// Paths that are not absolute and literal are passed over.
    PathsPassedOver = "paths-passed-over",
    /// Of two fields of one name the last one holds.
    LastOfTwoHolds = "last-of-two-holds",
    /// A document that cannot be read is taken for an empty one.
    UnreadableIsEmpty = "unreadable-is-empty",
    /// No more than eight grants of a kind are taken, without a word.
    GrantsCutOff = "grants-cut-off",
    /// Grants are passed over.
    GrantsPassedOver = "grants-passed-over",
    /// A hidden path within a grant is refused as an overlap.
    HiddenInGrantsRefused = "hidden-in-grants-refused",
    /// Grants of single files are passed over.
    FileGrantsPassedOver = "file-grants-passed-over",

    // The sandboxing program.
    /// The first bubblewrap on PATH is taken, whoever may write it, and whatever it is.
    FirstOnPathTaken = "first-on-path-taken",
    /// Without bubblewrap on PATH the usual place is tried.
    UsualPlaceTried = "usual-place-tried",
    /// The bubblewrap that the policy names is not looked at.
    NamedProgramIgnored = "named-program-ignored",
    /// A bubblewrap that the policy names by a link is refused.
    LinkedProgramRefused = "linked-program-refused",
    /// A launch that fails is tried again without a sandbox.
    FallsBackToNone = "falls-back-to-none",

    // Variables.
    /// A strict command has the caller's variables.
    EnvironmentKept = "environment-kept",
    /// A host-readable command has the variables that lead to the caller's service.
    ServiceVariablesKept = "service-variables-kept",
    /// Values are handed over on a command line.
    VariablesOnCommandLine = "variables-on-command-line",
    /// A command has no search path.
    SearchPathLost = "search-path-lost",
    /// A command has no variables about terminal and locale.
    LocaleLost = "locale-lost",
    /// A host-readable command has none of the caller's variables.
    HostReadableCleared = "host-readable-cleared",
    /// A strict command has the caller's HOME and TMPDIR, which are not there inside.
    PrivateDirectoriesLost = "private-directories-lost",
    /// A host-readable command has a private HOME.
    HomeReplaced = "home-replaced",
    /// The caller's variables replace the agent's.
    CallerVariablesWin = "caller-variables-win",
    /// A value ends at its first newline.
    LinesCutOff = "lines-cut-off",
    /// A variable with an empty value is passed over.
    EmptyValuesDropped = "empty-values-dropped",
    /// Every variable that the policy lists is handed over unasked.
    ListedVariablesCopied = "listed-variables-copied",
    /// A reference copies any variable of the host, listed or not.
    UnlistedVariablesCopied = "unlisted-variables-copied",
    /// A reference to what the host does not have is an empty value.
    MissingVariablesEmpty = "missing-variables-empty",
    /// References are expanded wherever they stand.
    ReferencesExpandedWithin = "references-expanded-within",
    /// A copied value is expanded again.
    ReferencesExpandedTwice = "references-expanded-twice",
    /// References are text.
    ReferencesNotExpanded = "references-not-expanded",
    /// A document of variables that cannot be read is taken for an empty one.
    VariablesPassedOver = "variables-passed-over",

    // The command.
    /// The words of the command are joined into a line for a shell.
    ShellString = "shell-string",
    /// Empty arguments are dropped.
    EmptyArgumentsDropped = "empty-arguments-dropped",
    /// White space at the ends of arguments is taken away.
    ArgumentsTrimmed = "arguments-trimmed",
    /// The shell of a command is told to stop at the first error.
    ShellStopsAtErrors = "shell-stops-at-errors",
    /// Errors are written to the output.
    StreamsMerged = "streams-merged",
    /// The command's input cannot be read.
    InputUnreadable = "input-unreadable",
    /// Where the directory to start in is not there, the command starts elsewhere.
    DirectoryFallsBack = "directory-falls-back",
    /// The command starts in the workspace, whatever was asked for.
    DirectoryIgnored = "directory-ignored",
    /// The command starts in /tmp unless a directory is asked for.
    DirectoryNotSet = "directory-not-set",

    // Too much taken away.
    /// The workspace is read-only.
    WorkspaceReadOnly = "workspace-read-only",
    /// The private /tmp covers a workspace that lies in the host's.
    TemporaryOverWorkspace = "temporary-over-workspace",
    /// A workspace that is named through a link has its real name alone.
    SpellingLost = "spelling-lost",
    /// A strict view has no /etc.
    ConfigurationLost = "configuration-lost",
    /// A strict view has no /bin.
    ShellPathLost = "shell-path-lost",
    /// There is no writable /dev/shm.
    SharedMemoryLost = "shared-memory-lost",
    /// /dev is empty.
    DevicesLost = "devices-lost",
    /// /dev holds a handful of devices and nothing else.
    DevicesFew = "devices-few",
    /// There is no /proc.
    ProcessesLost = "processes-lost",
    /// /tmp is read-only.
    TemporaryReadOnly = "temporary-read-only",
    /// Files that others can read are not made: the umask is the launcher's.
    UmaskSet = "umask-set",
    /// The command has another user id.
    UserChanged = "user-changed",
    /// A filter forbids System V IPC and message queues.
    IpcForbidden = "ipc-forbidden",
    /// A filter forbids links and special files.
    LinksForbidden = "links-forbidden",
    /// A filter forbids sockets.
    SocketsForbidden = "sockets-forbidden",
    /// A filter forbids signals.
    SignalsForbidden = "signals-forbidden",
    /// A filter forbids to change modes and times.
    MetadataForbidden = "metadata-forbidden",
    /// A filter forbids to move files.
    RenamesForbidden = "renames-forbidden",
    /// A filter forbids to lock files.
    LocksForbidden = "locks-forbidden",
}
