//! A tethered program: it is killed and its folder removed as soon as this process ends, however it ends.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use tokio::sync::watch;

use super::EnvtestError;

/// How many lines of a log are quoted.
const QUOTED_LINES: usize = 8;
/// How many characters of a line are quoted.
const QUOTED_WIDTH: usize = 300;
/// How many bytes at the end of a log are read.
const TAIL_BYTES: u64 = 256 * 1024;
const SCRIPT: &str = include_str!("tether.sh");

/// The first program that ended; none should.
#[derive(Clone, Debug)]
pub(super) struct ProgramExits(Arc<watch::Sender<Option<ProgramExit>>>);

/// The end of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProgramExit {
    /// `etcd`.
    pub(super) program: String,
    /// `exit status 1`, `killed by signal 9`.
    pub(super) how: String,
    /// Its log file.
    pub(super) log: PathBuf,
}

/// A running program. Dropping it kills it, removes the folder, and waits for both.
#[derive(Debug)]
pub(super) struct TetheredProgram {
    shell: Child,
}

impl ProgramExits {
    /// No program has ended yet.
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }

    /// The first exit, if any.
    pub(super) fn first(&self) -> Option<ProgramExit> {
        self.0.borrow().clone()
    }

    /// Waits for the first exit.
    pub(super) async fn wait(&self) -> ProgramExit {
        let mut seen = self.0.subscribe();
        let death = seen.wait_for(Option::is_some).await.expect("the sender is in self");
        death.clone().expect("it was waited for")
    }

    fn record(&self, death: ProgramExit) {
        self.0.send_if_modified(|first| {
            let is_first = first.is_none();
            first.get_or_insert(death);
            is_first
        });
    }
}

impl TetheredProgram {
    /// Starts a program that writes to `<folder>/<name>.log`; the whole folder is removed when this process ends.
    pub(super) fn spawn(
        program: &Path,
        (name, flags): (&str, &[String]),
        folder: &Path,
        exits: &ProgramExits,
    ) -> Result<Self, EnvtestError> {
        let failed = |source| EnvtestError::Spawn { program: program.to_owned(), source };
        let log = folder.join(format!("{name}.log"));
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "tether"]).arg(folder).arg(&log).arg(program).args(flags);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // The terminal's interrupt must reach only this process, which then stops the program in order.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut shell = command.spawn().map_err(failed)?;
        let stdout = shell.stdout.take().expect("standard output is piped");
        let (name, exits) = (name.to_owned(), exits.clone());
        std::thread::spawn(move || {
            let mut line = String::new();
            // A tether that was killed itself only closes the pipe.
            let _ = BufReader::new(stdout).read_line(&mut line);
            exits.record(ProgramExit { program: name, how: describe_status(line.trim()), log });
        });
        Ok(Self { shell })
    }

    /// Closes the pipe without waiting, so that several programs end at once.
    pub(super) fn release(&mut self) {
        drop(self.shell.stdin.take());
    }
}

impl Drop for TetheredProgram {
    fn drop(&mut self) {
        self.release();
        // If waiting fails, the tether has ended.
        let _ = self.shell.wait();
    }
}

/// The end of a log; of a crash, the lines before the stack traces.
pub(super) fn last_words(log: &Path) -> String {
    let text = tail(log).unwrap_or_default();
    let lines: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("goroutine "))
        .filter(|line| !line.trim().is_empty())
        .collect();
    let cut = |line: &&str| line.chars().take(QUOTED_WIDTH).collect::<String>();
    lines[lines.len().saturating_sub(QUOTED_LINES)..].iter().map(cut).collect::<Vec<_>>().join("\n")
}

fn tail(log: &Path) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Describes a shell's `$?`.
fn describe_status(status: &str) -> String {
    match status.parse::<u8>() {
        Ok(status) if status > 128 => format!("killed by signal {}", status - 128),
        Ok(status) => format!("exit status {status}"),
        Err(_) => "the shell that watched it was killed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn sh(script: &str, folder: &Path, exits: &ProgramExits) -> TetheredProgram {
        let flags = ["-c".to_owned(), script.to_owned()];
        TetheredProgram::spawn(Path::new("/bin/sh"), ("program", &flags), folder, exits).unwrap()
    }

    /// Waits until a program has written a line, and returns it.
    fn first_line(file: &Path) -> String {
        let started_at = Instant::now();
        loop {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            if text.ends_with('\n') {
                return text.trim().to_owned();
            }
            assert!(started_at.elapsed() < Duration::from_secs(20), "nothing in {}", file.display());
            std::thread::yield_now();
        }
    }

    fn is_running(pid: &str) -> bool {
        let status = Command::new("kill").args(["-0", pid]).stderr(Stdio::null()).status().unwrap();
        status.success()
    }

    #[test]
    fn dropping_it_kills_the_program_and_removes_its_folder() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("data");
        std::fs::create_dir(&folder).unwrap();
        let exits = ProgramExits::new();
        let program = sh("trap '' TERM; echo $$; exec sleep 1000", &folder, &exits);
        let pid = first_line(&folder.join("program.log"));
        assert!(is_running(&pid));
        drop(program);
        assert!(!is_running(&pid));
        assert!(!folder.exists());
    }

    #[tokio::test]
    async fn an_exit_is_reported_with_its_status_and_log() {
        let parent = tempfile::tempdir().unwrap();
        for (script, want) in [("echo no; exit 3", "exit status 3"), ("kill -9 $$", "killed by signal 9")] {
            let folder = parent.path().join("data");
            std::fs::create_dir(&folder).unwrap();
            let exits = ProgramExits::new();
            assert_eq!(exits.first(), None);
            let program = sh(script, &folder, &exits);
            let log = folder.join("program.log");
            let death = tokio::time::timeout(Duration::from_secs(20), exits.wait()).await.unwrap();
            let want = ProgramExit { program: "program".to_owned(), how: want.to_owned(), log };
            assert_eq!((&death, exits.first()), (&want, Some(want.clone())));
            drop(program);
            assert!(!folder.exists());
        }
    }

    #[test]
    fn the_quoted_log_ends_before_the_stack_traces_of_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let lines = |from: u8| (from..20).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
        let crash = "panic: full\n\ngoroutine 1 [running]:\nmain.main()";
        std::fs::write(&log, format!("{}\n\n{crash}\n", lines(0))).unwrap();
        assert_eq!(last_words(&log), format!("{}\npanic: full", lines(13)));
        std::fs::write(&log, "x".repeat(2 * QUOTED_WIDTH)).unwrap();
        assert_eq!(last_words(&log), "x".repeat(QUOTED_WIDTH));
        assert_eq!(last_words(&folder.path().join("none")), "");
    }
}
