//! Programs that are asked for something and end: their words, or why not.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// For what takes no time.
pub(crate) const QUICK: Duration = Duration::from_secs(20);
/// For what moves much data.
pub(crate) const LONG: Duration = Duration::from_mins(10);
/// Lines of a failed program that are quoted.
const QUOTED: usize = 6;

/// Why a program that was asked for something gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It could not be started.
    #[error("failed to start {}: {source}", program.display())]
    Spawn {
        /// Its path.
        program: PathBuf,
        /// The operating system's words.
        source: std::io::Error,
    },
    /// It failed.
    #[error("failed to {step}: {said}")]
    Failed {
        /// What it was to do.
        step: String,
        /// Its last words.
        said: String,
    },
    /// It did not end in time.
    #[error("failed to {step} within {seconds} s")]
    TooLong {
        /// What it was to do.
        step: String,
        /// How long it had.
        seconds: u64,
    },
}

/// Runs a program to its end, which comes at once when nobody waits for it any more, and gives what it printed.
pub(crate) async fn run(
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
    step: &str,
    patience: Duration,
) -> Result<String, CommandError> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let Ok(ended) = tokio::time::timeout(patience, command.output()).await else {
        return Err(CommandError::TooLong { step: step.to_owned(), seconds: patience.as_secs() });
    };
    let output = ended.map_err(|source| CommandError::Spawn { program: program.to_owned(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    // What it prints for others to read, as `docker info` does without an engine, says nothing of why.
    let said = if output.stderr.trim_ascii().is_empty() { output.stdout } else { output.stderr };
    Err(CommandError::Failed { step: step.to_owned(), said: last_words(&String::from_utf8_lossy(&said)) })
}

/// The end of what was said, without what programs in Go say beside it: where in their code they were, and what they did
/// before.
pub(crate) fn last_words(said: &str) -> String {
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_frame = |(at, line): (usize, &str)| {
        is_place_in_code(line) || lines.get(at + 1).is_some_and(|next| is_place_in_code(next))
    };
    let tells = |(at, line): &(usize, &str)| !is_frame((*at, *line)) && !is_information(line);
    let words: Vec<&str> =
        lines.iter().copied().enumerate().filter(tells).map(|(_, line)| line.trim()).collect();
    // Nothing but that is better than nothing.
    let words = if words.is_empty() { lines.iter().map(|line| line.trim()).collect() } else { words };
    if words.is_empty() {
        return "it said nothing".to_owned();
    }
    words[words.len().saturating_sub(QUOTED)..].join("; ")
}

/// The second line of a frame of a stack, `\tcmd/kubeadm/kubeadm.go:25`.
fn is_place_in_code(line: &str) -> bool {
    let Some((file, number)) = line.rsplit_once(':') else { return false };
    let is_code = Path::new(file).extension().is_some_and(|extension| extension == "go" || extension == "s");
    line.starts_with('\t') && is_code && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// What klog prints as information: `I1124 03:37:42.267981     256 init.go:184] …`.
fn is_information(line: &str) -> bool {
    let Some((level, _)) = line.split_once(' ') else { return false };
    level.len() == 5
        && level.strip_prefix('I').is_some_and(|day| day.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kubeadm_says_is_quoted_without_its_stack_and_what_it_did_before() {
        let said = "ERROR: failed to create cluster: failed to init node with kubeadm: exit status 1\n\
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
        assert_eq!(last_words(said), want);
        assert_eq!(last_words("main.main\n\tcmd/kubeadm.go:25\n"), "main.main; cmd/kubeadm.go:25");
        assert_eq!(last_words("I1124 is a day\n"), "I1124 is a day");
    }

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
