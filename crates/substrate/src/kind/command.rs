//! Programs that are asked for something and end: their words, or why not.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::KindError;

/// For what takes no time.
pub(super) const QUICK: Duration = Duration::from_secs(20);
/// For what moves much data.
pub(super) const LONG: Duration = Duration::from_mins(10);
/// Lines of a failed program that are quoted.
const QUOTED: usize = 6;

/// Runs a program to its end, which comes at once when nobody waits for it any more, and gives what it printed.
pub(super) async fn run(
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
    step: &str,
    patience: Duration,
) -> Result<String, KindError> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let Ok(ended) = tokio::time::timeout(patience, command.output()).await else {
        return Err(KindError::TooLong { step: step.to_owned(), seconds: patience.as_secs() });
    };
    let output = ended.map_err(|source| KindError::Spawn { program: program.to_owned(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    // What it prints for others to read, as `docker info` does without an engine, says nothing of why.
    let said = if output.stderr.trim_ascii().is_empty() { output.stdout } else { output.stderr };
    Err(KindError::Failed { step: step.to_owned(), said: last_words(&String::from_utf8_lossy(&said)) })
}

/// The end of what was said.
pub(super) fn last_words(said: &str) -> String {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return "it said nothing".to_owned();
    }
    lines[lines.len().saturating_sub(QUOTED)..].join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_is_quoted_when_it_fails_and_ended_when_it_takes_too_long() {
        let sh = Path::new("/bin/sh");
        let said = run(sh, &["-c", "echo well"], "say it", QUICK).await.unwrap();
        assert_eq!(said, "well");
        for (script, want) in [
            ("echo {}; echo one >&2; echo two >&2; exit 1", "failed to say it: one; two"),
            ("echo one; exit 1", "failed to say it: one"),
            ("exit 1", "failed to say it: it said nothing"),
        ] {
            let failed = run(sh, &["-c", script], "say it", QUICK).await.unwrap_err();
            assert_eq!(failed.to_string(), want);
        }
        let late = run(sh, &["-c", "exec sleep 1000"], "sleep", Duration::from_millis(1)).await.unwrap_err();
        assert_eq!(late.to_string(), "failed to sleep within 0 s");
    }
}
