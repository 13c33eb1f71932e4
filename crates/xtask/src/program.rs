//! Runs programs. Their output goes to standard error, and an error names the program and quotes the end of its output.

use std::io;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

/// Lines of a failed program's output that are quoted.
const QUOTED: usize = 8;

/// Runs a program and copies its output to standard error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let name = name(command);
    let status = command.stdin(Stdio::null()).stdout(io::stderr()).status();
    let status = status.with_context(|| format!("failed to start {name}"))?;
    if !status.success() {
        bail!("{name} failed: {status}");
    }
    Ok(())
}

/// Runs a program and returns its standard output; an error quotes the end of its output.
pub(crate) fn ask(command: &mut Command) -> Result<String> {
    let name = name(command);
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("failed to start {name}"))?;
    if !output.status.success() {
        bail!("{name} failed: {}{}", output.status, last_lines(&output));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Runs two programs, with the output of the first as the input of the second; returns the output of the second.
pub(crate) fn pipe(from: &mut Command, into: &mut Command) -> Result<String> {
    let (first, second) = (name(from), name(into));
    let mut writing = from
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("failed to start {first}"))?;
    let between = writing.stdout.take().context("the output is not piped")?;
    let output = into.stdin(between).output().with_context(|| format!("failed to start {second}"))?;
    let status = writing.wait().with_context(|| format!("failed to wait for {first}"))?;
    if !output.status.success() {
        bail!("{second} failed: {}{}", output.status, last_lines(&output));
    }
    if !status.success() {
        bail!("{first} failed: {status}");
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Runs a step and prints how long it took.
pub(crate) fn step<T>(what: &str, run: impl FnOnce() -> Result<T>) -> Result<T> {
    let begun = Instant::now();
    let result = run().with_context(|| format!("failed step: {what}"))?;
    print_line(&format!("{what}: {:.1} s", begun.elapsed().as_secs_f32()));
    Ok(result)
}

/// Prints a line to standard error.
pub(crate) fn print_line(line: &str) {
    use io::Write as _;
    // If standard error is closed, there is no place to report it.
    let _ = writeln!(io::stderr(), "{line}");
}

fn last_lines(output: &Output) -> String {
    let text = [output.stdout.as_slice(), b"\n", &output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(QUOTED)..].iter().fold(String::new(), |text, line| text + "\n  " + line)
}

/// The program and its first argument, which is often a command.
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
        assert_eq!(pipe(&mut sh("echo one"), &mut sh("cat; echo two")).expect("both succeed"), "one\ntwo");
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
        let missing = ask(Command::new("no-such-program").arg("run")).expect_err("it does not exist");
        assert_eq!(missing.to_string(), "failed to start no-such-program run");
    }
}
