//! A program on a tether: it and its folder are gone as soon as this process is, however this process ends.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use tokio::sync::watch;

use super::EnvtestError;

/// Lines of a log that are quoted.
const QUOTED: usize = 8;
/// Characters of a line that are quoted.
const WIDTH: usize = 300;
/// Bytes at the end of a log that are looked at.
const LOOKED_AT: u64 = 256 * 1024;
const SCRIPT: &str = include_str!("tether.sh");

/// The first program that ended, and how; none does by itself.
#[derive(Clone, Debug)]
pub(super) struct Deaths(Arc<watch::Sender<Option<Death>>>);

/// That a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Death {
    /// `etcd`.
    pub(super) program: String,
    /// `exit status 1`, `killed by signal 9`.
    pub(super) how: String,
    /// Where it wrote.
    pub(super) log: PathBuf,
}

/// A running program. Dropping it kills it, removes the folder and waits for both.
#[derive(Debug)]
pub(super) struct Tethered {
    shell: Child,
}

impl Deaths {
    /// Nobody died yet.
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }

    /// The first one, if any.
    pub(super) fn first(&self) -> Option<Death> {
        self.0.borrow().clone()
    }

    /// Waits for the first one.
    pub(super) async fn wait(&self) -> Death {
        let mut seen = self.0.subscribe();
        let death = seen.wait_for(Option::is_some).await.expect("the sender is in self");
        death.clone().expect("it was waited for")
    }

    fn tell(&self, death: Death) {
        self.0.send_if_modified(|first| {
            let is_first = first.is_none();
            first.get_or_insert(death);
            is_first
        });
    }
}

impl Tethered {
    /// Starts a program that writes to `<folder>/<name>.log`; the whole folder is removed when this process is gone.
    pub(super) fn spawn(
        program: &Path,
        (name, flags): (&str, &[String]),
        folder: &Path,
        deaths: &Deaths,
    ) -> Result<Self, EnvtestError> {
        let failed = |source| EnvtestError::Spawn { program: program.to_owned(), source };
        let log = folder.join(format!("{name}.log"));
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "tether"]).arg(folder).arg(&log).arg(program).args(flags);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // An interrupt in the terminal is for this process, which then takes the program down in order.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut shell = command.spawn().map_err(failed)?;
        let said = shell.stdout.take().expect("standard output is piped");
        let (name, deaths) = (name.to_owned(), deaths.clone());
        std::thread::spawn(move || {
            let mut line = String::new();
            // Nothing but the end of the pipe is heard from a tether that was killed itself.
            let _ = BufReader::new(said).read_line(&mut line);
            deaths.tell(Death { program: name, how: how(line.trim()), log });
        });
        Ok(Self { shell })
    }

    /// Lets go without waiting, so that several end at once.
    pub(super) fn release(&mut self) {
        drop(self.shell.stdin.take());
    }
}

impl Drop for Tethered {
    fn drop(&mut self) {
        self.release();
        // A tether that cannot be waited for is gone.
        let _ = self.shell.wait();
    }
}

/// The end of a log; a crash is told by what stands before the stacks of its threads.
pub(super) fn last_words(log: &Path) -> String {
    let text = tail(log).unwrap_or_default();
    let lines: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("goroutine "))
        .filter(|line| !line.trim().is_empty())
        .collect();
    let cut = |line: &&str| line.chars().take(WIDTH).collect::<String>();
    lines[lines.len().saturating_sub(QUOTED)..].iter().map(cut).collect::<Vec<_>>().join("\n")
}

fn tail(log: &Path) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A shell's `$?` in words.
fn how(status: &str) -> String {
    match status.parse::<u8>() {
        Ok(status) if status > 128 => format!("killed by signal {}", status - 128),
        Ok(status) => format!("exit status {status}"),
        Err(_) => "with the shell that watched it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn sh(script: &str, folder: &Path, deaths: &Deaths) -> Tethered {
        let flags = ["-c".to_owned(), script.to_owned()];
        Tethered::spawn(Path::new("/bin/sh"), ("program", &flags), folder, deaths).unwrap()
    }

    /// What a program has written once it has written a line.
    fn written(file: &Path) -> String {
        let begun = Instant::now();
        loop {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            if text.ends_with('\n') {
                return text.trim().to_owned();
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "nothing in {}", file.display());
            std::thread::yield_now();
        }
    }

    fn is_running(pid: &str) -> bool {
        let asked = Command::new("kill").args(["-0", pid]).stderr(Stdio::null()).status().unwrap();
        asked.success()
    }

    #[test]
    fn dropping_it_ends_the_program_and_its_folder() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("data");
        std::fs::create_dir(&folder).unwrap();
        let deaths = Deaths::new();
        let program = sh("trap '' TERM; echo $$; exec sleep 1000", &folder, &deaths);
        let pid = written(&folder.join("program.log"));
        assert!(is_running(&pid));
        drop(program);
        assert!(!is_running(&pid));
        assert!(!folder.exists());
    }

    #[tokio::test]
    async fn a_program_that_ends_is_told_with_its_status_and_log() {
        let parent = tempfile::tempdir().unwrap();
        for (script, want) in [("echo no; exit 3", "exit status 3"), ("kill -9 $$", "killed by signal 9")] {
            let folder = parent.path().join("data");
            std::fs::create_dir(&folder).unwrap();
            let deaths = Deaths::new();
            assert_eq!(deaths.first(), None);
            let program = sh(script, &folder, &deaths);
            let log = folder.join("program.log");
            let death = tokio::time::timeout(Duration::from_secs(20), deaths.wait()).await.unwrap();
            let want = Death { program: "program".to_owned(), how: want.to_owned(), log };
            assert_eq!((&death, deaths.first()), (&want, Some(want.clone())));
            drop(program);
            assert!(!folder.exists());
        }
    }

    #[test]
    fn the_last_words_end_before_the_stacks_of_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let lines = |from: u8| (from..20).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
        let crash = "panic: full\n\ngoroutine 1 [running]:\nmain.main()";
        std::fs::write(&log, format!("{}\n\n{crash}\n", lines(0))).unwrap();
        assert_eq!(last_words(&log), format!("{}\npanic: full", lines(13)));
        std::fs::write(&log, "x".repeat(2 * WIDTH)).unwrap();
        assert_eq!(last_words(&log), "x".repeat(WIDTH));
        assert_eq!(last_words(&folder.path().join("none")), "");
    }
}
