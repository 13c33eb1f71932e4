//! A started process: it is always ended, and the end of its output is kept.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, ChildStdin, Command};

use super::location::CommandLine;
use crate::mask;
use crate::target::TargetError;

/// Number of lines of output that are kept.
const KEPT: usize = 1000;
/// Number of lines that are the end of the output.
const LAST: usize = 20;
/// Number of lines that are shown of what was written during an exchange.
const DURING: usize = 200;
/// Number of bytes of a line that are kept.
const LINE: usize = 4096;
/// How long a process may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// How long a process may take that must remove a container first; it continues after this timeout.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until the pipe on standard input is closed, which the kernel does however its writer ends, also by SIGKILL or SIGHUP;
/// then kills the group $1 and removes the folder $2. This syntax of `kill` works in dash, too.
const GUARD: &str = "trap '' HUP INT TERM PIPE; cat >/dev/null; kill -s KILL -- \"-$1\"; rm -rf \"$2\"";

type Lines = Arc<Mutex<Output>>;

/// The end of a program's output.
#[derive(Default)]
struct Output {
    lines: VecDeque<String>,
    /// Number of lines that are not kept any more.
    dropped: u64,
}

impl Output {
    fn push(&mut self, mut line: String) {
        if let Some((end, _)) = line.char_indices().find(|(at, _)| *at >= LINE) {
            line.truncate(end);
            line.push('…');
        }
        if self.lines.len() == KEPT {
            self.lines.pop_front();
            self.dropped += 1;
        }
        self.lines.push_back(line);
    }

    /// The number of lines so far.
    fn mark(&self) -> u64 {
        self.dropped + self.lines.len() as u64
    }

    /// The first lines after a mark: the cause of a failure precedes what follows from it.
    fn since(&self, mark: u64) -> String {
        let skipped = usize::try_from(mark.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        let lines: Vec<&str> = self.lines.iter().skip(skipped).take(DURING).map(String::as_str).collect();
        lines.join("\n")
    }
}

/// A started process in a separate process group.
pub(super) struct Process {
    child: Child,
    leash: Leash,
    name: String,
    lines: Lines,
    /// Read what it writes.
    readers: Vec<tokio::task::JoinHandle<()>>,
}

/// How it is ended.
enum Leash {
    /// Signals to its group.
    Group {
        group: Option<Pid>,
        /// Ends the group if this process is killed; killed itself when the group has ended.
        _guard: Option<Child>,
    },
    /// The end of the pipe on its standard input.
    Pipe(Option<ChildStdin>),
}

impl Process {
    /// Starts a command line in `folder`; `scratch` is removed with it if this process is killed.
    pub(super) fn spawn(line: CommandLine, (folder, scratch): (&Path, &Path)) -> Result<Self, TargetError> {
        let Some((program, arguments)) = line.words.split_first() else {
            let reason = "the command is empty".to_owned();
            return Err(TargetError::Description { what: "command".to_owned(), reason });
        };
        let mut child = Command::new(program)
            .args(arguments)
            .envs(&line.env)
            .current_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
            .stdin(if line.ends_with_stdin { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(!line.ends_with_stdin)
            .spawn()
            .map_err(|source| TargetError::Spawn { command: program.clone(), source })?;
        let lines = Lines::default();
        let out = child.stdout.take().map(|out| tokio::spawn(keep(out, Arc::clone(&lines))));
        let err = child.stderr.take().map(|err| tokio::spawn(keep(err, Arc::clone(&lines))));
        let readers = out.into_iter().chain(err).collect();
        let leash = if line.ends_with_stdin {
            Leash::Pipe(child.stdin.take())
        } else {
            let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
            Leash::Group { group, _guard: group.and_then(|group| guard(group, scratch)) }
        };
        Ok(Self { child, leash, name: line.name, lines, readers })
    }

    /// Its name in errors.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Its exit status, if it has ended.
    pub(super) fn ended(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(|status| status.to_string())
    }

    /// The code with which it ended, if it did: 128 and the signal's number where a signal ended it.
    pub(super) fn exit_code(&mut self) -> Option<i32> {
        let status = self.child.try_wait().ok().flatten()?;
        status.code().or_else(|| Some(128 + std::os::unix::process::ExitStatusExt::signal(&status)?))
    }

    /// Waits until what it wrote has been read, once it has ended.
    pub(super) async fn read_all(&mut self) {
        for reader in &mut self.readers {
            // A child process of the program may hold the pipe open.
            let _ = tokio::time::timeout(GRACE, reader).await;
        }
    }

    /// Sends a signal to the process itself.
    pub(super) fn send(&self, signal: Signal) {
        if let Leash::Group { group: Some(group), .. } = &self.leash {
            // One that is gone already needs no signal.
            let _ = rustix::process::kill_process(*group, signal);
        }
    }

    /// The last lines it wrote, secrets masked.
    pub(super) fn last_output(&self) -> String {
        let output = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = output.lines.len().saturating_sub(LAST) as u64;
        output.since(output.dropped + earlier)
    }

    /// The number of lines that it has written.
    pub(super) fn output_mark(&self) -> u64 {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).mark()
    }

    /// The lines it wrote after a mark, secrets masked.
    pub(super) fn output_since(&self, mark: u64) -> String {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).since(mark)
    }

    /// Tells it to end, and kills the rest of its group.
    pub(super) async fn stop(mut self) {
        let patience = match &mut self.leash {
            Leash::Group { .. } => {
                self.signal(Signal::TERM);
                GRACE
            }
            Leash::Pipe(input) => {
                drop(input.take());
                PATIENCE
            }
        };
        if tokio::time::timeout(patience, self.child.wait()).await.is_err() {
            tracing::warn!(program = self.name, "the target did not end in time");
        }
    }

    fn signal(&self, signal: Signal) {
        if let Leash::Group { group: Some(group), .. } = &self.leash {
            // Fails only if the group has ended.
            let _ = kill_process_group(*group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// A shell that outlives this process by a moment; without it, a killed harness would leave its target running.
fn guard(group: Pid, scratch: &Path) -> Option<Child> {
    let mut command = Command::new("sh");
    command.args(["-c", GUARD, "guard", &group.as_raw_nonzero().to_string()]).arg(scratch);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.process_group(0).kill_on_drop(true).spawn().ok()
}

/// Reads all output: writing to a pipe without a reader ends a Go program.
async fn keep(from: impl AsyncRead + Unpin, lines: Lines) {
    let (mut reader, mut mask) = (BufReader::new(from), mask::Lines::default());
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).await.is_ok_and(|read| read > 0) {
        let line = String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned();
        bytes.clear();
        // Masks before dropping lines: the rest of a key could not be recognized.
        let Some(line) = mask.masked(&line) else { continue };
        lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_kept_from_a_mark_on_and_within_bounds() {
        let mut output = Output::default();
        for number in 0..KEPT + 5 {
            output.push(number.to_string());
        }
        let mark = output.mark();
        assert_eq!((mark, output.since(mark).as_str()), ((KEPT + 5) as u64, ""));
        for line in ["a", "b"] {
            output.push(line.to_owned());
        }
        assert_eq!(output.since(mark), "a\nb");
        assert_eq!(output.since(0).lines().count(), DURING);
        output.push("ä".repeat(LINE));
        assert!(output.lines.back().is_some_and(|line| line.len() <= LINE + 4 && line.ends_with('…')));
    }
}
