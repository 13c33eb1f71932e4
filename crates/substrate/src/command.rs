//! Runs programs to their end and returns their output or an error.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// The timeout of quick commands.
pub(crate) const SHORT_TIMEOUT: Duration = Duration::from_secs(20);
/// The timeout of commands that transfer much data.
pub(crate) const LONG_TIMEOUT: Duration = Duration::from_mins(10);
/// How many lines of a failed program's output are quoted.
const QUOTED_LINES: usize = 6;

/// Reason why a program did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The program could not be started.
    #[error("failed to start {}: {source}", program.display())]
    Spawn {
        /// The program's path.
        program: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The program failed.
    #[error("failed to {step}: {said}")]
    Failed {
        /// The step, as `failed to …`.
        step: String,
        /// The end of its output.
        said: String,
    },
    /// The program did not end in time.
    #[error("failed to {step} within {seconds} s")]
    TooLong {
        /// The step, as `failed to …`.
        step: String,
        /// The timeout.
        seconds: u64,
    },
}

/// Runs a program to its end and returns its standard output; dropping the future kills it.
pub(crate) async fn run(
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
    step: &str,
    timeout: Duration,
) -> Result<String, CommandError> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let Ok(outcome) = tokio::time::timeout(timeout, command.output()).await else {
        return Err(CommandError::TooLong { step: step.to_owned(), seconds: timeout.as_secs() });
    };
    let output = outcome.map_err(|source| CommandError::Spawn { program: program.to_owned(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    // Standard output rarely explains a failure, as `docker info` shows; quote it only without standard error.
    let text = if output.stderr.trim_ascii().is_empty() { output.stdout } else { output.stderr };
    Err(CommandError::Failed { step: step.to_owned(), said: last_words(&String::from_utf8_lossy(&text)) })
}

/// The end of a program's output, without stack traces and klog's information lines of Go programs.
pub(crate) fn last_words(output: &str) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_frame = |(at, line): (usize, &str)| {
        is_stack_location(line) || lines.get(at + 1).is_some_and(|next| is_stack_location(next))
    };
    let is_relevant = |(at, line): &(usize, &str)| !is_frame((*at, *line)) && !is_information(line);
    let words: Vec<&str> =
        lines.iter().copied().enumerate().filter(is_relevant).map(|(_, line)| line.trim()).collect();
    // If nothing else is left, quote those lines.
    let words = if words.is_empty() { lines.iter().map(|line| line.trim()).collect() } else { words };
    if words.is_empty() {
        return "it printed nothing".to_owned();
    }
    words[words.len().saturating_sub(QUOTED_LINES)..].join("; ")
}

/// Whether a line is the second line of a stack frame: `\tcmd/kubeadm/kubeadm.go:25`.
fn is_stack_location(line: &str) -> bool {
    let Some((file, number)) = line.rsplit_once(':') else { return false };
    let is_code = Path::new(file).extension().is_some_and(|extension| extension == "go" || extension == "s");
    line.starts_with('\t') && is_code && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a line is an information line of klog: `I1124 03:37:42.267981     256 init.go:184] …`.
fn is_information(line: &str) -> bool {
    let Some((level, _)) = line.split_once(' ') else { return false };
    level.len() == 5
        && level.strip_prefix('I').is_some_and(|day| day.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubeadms_errors_are_quoted_without_stack_traces_and_information() {
        let output = "ERROR: failed to create cluster: failed to init node with kubeadm: exit status 1\n\
                    Command Output: I1124 03:37:01.000000     176 init.go:184] a word\n\
                    I1124 03:37:05.469121     176 waitcontrolplane.go:83] another\n\
                    [kubelet-check] The kubelet is not healthy after 4m0s\n\n\
                    error: error execution phase wait-control-plane: it does not get up: see https://host:6443\n\
                    k8s.io/kubernetes/cmd/kubeadm/app.Run\n\
                    \tk8s.io/kubernetes@v1.36.3/cmd/kubeadm/app/kubeadm.go:47\n\
                    main.main\n\
                    \tk8s.io/kubernetes@v1.36.3/cmd/kubeadm/kubeadm.go:25\n\
                    runtime.goexit\n\
                    \truntime/asm_amd64.s:1771\n";
        let want = "ERROR: failed to create cluster: failed to init node with kubeadm: exit status 1; \
                    Command Output: I1124 03:37:01.000000     176 init.go:184] a word; \
                    [kubelet-check] The kubelet is not healthy after 4m0s; \
                    error: error execution phase wait-control-plane: it does not get up: see https://host:6443";
        assert_eq!(last_words(output), want);
        assert_eq!(last_words("main.main\n\tcmd/kubeadm.go:25\n"), "main.main; cmd/kubeadm.go:25");
        assert_eq!(last_words("I1124 is a day\n"), "I1124 is a day");
    }

    #[tokio::test]
    async fn a_failed_program_is_quoted_and_a_slow_one_killed() {
        let sh = Path::new("/bin/sh");
        let output = run(sh, &["-c", "echo well"], "say it", SHORT_TIMEOUT).await.unwrap();
        assert_eq!(output, "well");
        for (script, want) in [
            ("echo {}; echo one >&2; echo two >&2; exit 1", "failed to say it: one; two"),
            ("echo one; exit 1", "failed to say it: one"),
            ("exit 1", "failed to say it: it printed nothing"),
        ] {
            let failed = run(sh, &["-c", script], "say it", SHORT_TIMEOUT).await.unwrap_err();
            assert_eq!(failed.to_string(), want);
        }
        let late = run(sh, &["-c", "exec sleep 1000"], "sleep", Duration::from_millis(1)).await.unwrap_err();
        assert_eq!(late.to_string(), "failed to sleep within 0 s");
    }
}
