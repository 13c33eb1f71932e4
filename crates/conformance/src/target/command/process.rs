//! A started process: its group is killed on every way out, the end of its output is kept.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};

use super::place::Line;
use super::removal::Removal;
use crate::mask;
use crate::target::TargetError;

/// Lines of output that are kept.
const KEPT: usize = 20;
/// How long a process may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(2);

/// Waits until the pipe on standard input is closed, which the kernel does however its writer ends, SIGKILL and SIGHUP
/// included; then kills the group $1, removes the folder $2 and runs what else is said, twice, as an engine may still be making
/// what is to be taken away. The spelling of `kill` is one that dash knows too.
const GUARD: &str = "trap '' HUP INT TERM PIPE; cat >/dev/null; kill -s KILL -- \"-$1\"; rm -rf \"$2\"; shift 2; \
                     [ $# = 0 ] || { \"$@\"; sleep 1; \"$@\"; }";

type Lines = Arc<Mutex<VecDeque<String>>>;

/// A started process in a group of its own.
pub(super) struct Process {
    child: Child,
    _removal: Removal,
    /// Ends the group should this process be killed; killed itself when the group is gone.
    _guard: Option<Child>,
    group: Option<Pid>,
    name: String,
    lines: Lines,
}

impl Process {
    /// Starts a command line in `folder`; `scratch` goes with it should this process be killed.
    pub(super) fn spawn(line: Line, (folder, scratch): (&Path, &Path)) -> Result<Self, TargetError> {
        let Some((program, arguments)) = line.words.split_first() else {
            let reason = "the command is empty".to_owned();
            return Err(TargetError::Description { what: "command".to_owned(), reason });
        };
        let mut child = Command::new(program)
            .args(arguments)
            .envs(&line.env)
            .current_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| TargetError::Spawn { command: program.clone(), source })?;
        let lines = Lines::default();
        if let Some(out) = child.stdout.take() {
            tokio::spawn(keep(out, Arc::clone(&lines)));
        }
        if let Some(err) = child.stderr.take() {
            tokio::spawn(keep(err, Arc::clone(&lines)));
        }
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let guard = group.and_then(|group| guard(group, scratch, &line.removal));
        Ok(Self { child, _removal: line.removal, _guard: guard, group, name: line.name, lines })
    }

    /// What errors call it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// How it ended, if it did.
    pub(super) fn ended(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(|status| status.to_string())
    }

    /// The last lines it wrote, secrets masked.
    pub(super) fn last_words(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect::<Vec<_>>().join("\n")
    }

    /// Asks the group to end, and kills what is left of it.
    pub(super) async fn stop(mut self) {
        self.signal(Signal::TERM);
        if tokio::time::timeout(GRACE, self.child.wait()).await.is_err() {
            tracing::warn!(program = self.name, "the target did not end in time and is killed");
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // A group that is gone already needs no signal.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// A shell that outlives this process by a moment; without one, a harness that is killed leaves its target running.
fn guard(group: Pid, scratch: &Path, removal: &Removal) -> Option<Child> {
    let mut command = Command::new("sh");
    command
        .args(["-c", GUARD, "guard", &group.as_raw_nonzero().to_string()])
        .arg(scratch)
        .args(removal.words());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.process_group(0).kill_on_drop(true).spawn().ok()
}

/// Reads to the end whatever is written: a pipe that nobody reads ends a program in Go.
async fn keep(from: impl AsyncRead + Unpin, lines: Lines) {
    let (mut reader, mut mask) = (BufReader::new(from), mask::Lines::default());
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).await.is_ok_and(|read| read > 0) {
        let line = String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned();
        bytes.clear();
        // Before a line is dropped: the rest of a key would not be known for one.
        let Some(line) = mask.masked(&line) else { continue };
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}
