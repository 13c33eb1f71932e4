//! Programs that a chore runs: what they say goes to standard error, and an error names the program and quotes it.

use std::io;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

/// Lines of a failed program that are quoted.
const QUOTED: usize = 8;

/// Runs it to its end; what it prints is seen at once.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let name = name(command);
    let status = command.stdin(Stdio::null()).stdout(io::stderr()).status();
    let status = status.with_context(|| format!("failed to start {name}"))?;
    if !status.success() {
        bail!("{name} failed: {status}");
    }
    Ok(())
}

/// Runs it to its end and gives what it printed; on failure the end of that is quoted.
pub(crate) fn ask(command: &mut Command) -> Result<String> {
    let name = name(command);
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("failed to start {name}"))?;
    if !output.status.success() {
        bail!("{name} failed: {}{}", output.status, last_words(&output));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Runs two programs, the first one's output being the second one's input, and gives what the second printed.
pub(crate) fn pipe(from: &mut Command, into: &mut Command) -> Result<String> {
    let (first, second) = (name(from), name(into));
    let mut writing = from
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("failed to start {first}"))?;
    let between = writing.stdout.take().context("its output is piped")?;
    let output = into.stdin(between).output().with_context(|| format!("failed to start {second}"))?;
    let status = writing.wait().with_context(|| format!("failed to wait for {first}"))?;
    if !output.status.success() {
        bail!("{second} failed: {}{}", output.status, last_words(&output));
    }
    if !status.success() {
        bail!("{first} failed: {status}");
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Does a step and tells how long it took.
pub(crate) fn step<T>(what: &str, does: impl FnOnce() -> Result<T>) -> Result<T> {
    let begun = Instant::now();
    let done = does().with_context(|| format!("failed at: {what}"))?;
    tell(&format!("{what}: {:.1} s", begun.elapsed().as_secs_f32()));
    Ok(done)
}

/// Says something to whoever waits.
pub(crate) fn tell(line: &str) {
    use io::Write as _;
    // Nobody may be listening.
    let _ = writeln!(io::stderr(), "{line}");
}

fn last_words(output: &Output) -> String {
    let said = [output.stdout.as_slice(), b"\n", &output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(QUOTED)..].iter().fold(String::new(), |text, line| text + "\n  " + line)
}

/// The program and its first word, which is often the command.
fn name(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    match command.get_args().next().map(|argument| argument.to_string_lossy()) {
        Some(first) if !first.starts_with('-') && !first.contains('/') => format!("{program} {first}"),
        _ => program,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_fails_with_either_end() {
        let sh = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        assert_eq!(pipe(&mut sh("echo one"), &mut sh("cat; echo two")).expect("both are well"), "one\ntwo");
        for (from, into) in [("exit 3", "cat"), ("echo one", "cat; exit 3")] {
            let failed = pipe(&mut sh(from), &mut sh(into)).expect_err("one fails").to_string();
            assert!(failed.starts_with("sh failed: exit status: 3"), "{failed}");
        }
    }

    #[test]
    fn a_failure_names_the_program_and_quotes_its_end() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo begun; echo 'no space left' >&2; exit 3"]);
        let failed = ask(&mut command).expect_err("it fails").to_string();
        assert_eq!(failed, "sh failed: exit status: 3\n  begun\n  no space left");
        let missing = ask(Command::new("no-such-program").arg("run")).expect_err("it is not there");
        assert_eq!(missing.to_string(), "failed to start no-such-program run");
    }
}
