//! `cargo xtask mutants`: changes the webhooks' code, one place at a time, with the contracts as the only tests.
//!
//! A change that no contract notices is a missing clause, unless `mutants.yaml` beside the crate says why not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::chore::root;

/// Which component's code is changed.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder under crates/
    #[arg(long, default_value = "resource-manager")]
    component: String,
    /// Only these files, as paths from the root (repeatable); default: the component's webhooks
    #[arg(long)]
    file: Vec<String>,
    /// Which part of the mutants, such as 0/8
    #[arg(long)]
    shard: Option<String>,
    /// Mutants tried side by side
    #[arg(long, default_value_t = 1)]
    jobs: u8,
}

/// What became of the mutants.
struct Outcome {
    caught: usize,
    timed_out: usize,
    unviable: usize,
    survivors: Vec<String>,
}

/// Runs cargo-mutants, prints the kill rate, and fails on a survivor without a stated reason.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = root().canonicalize()?;
    let output = root.join("target/mutants");
    std::fs::create_dir_all(&output)?;
    let status = mutate(arguments, &root, &output)
        .status()
        .context("failed to start cargo mutants (make mutants installs it)")?;
    // 2: mutants survived, 3: some timed out; both are judged below.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        bail!("cargo mutants ended with {status}: do the contracts pass without a mutation?");
    }
    let outcome = read(&output.join("mutants.out/outcomes.json"))?;
    let reasons = reasons(&root.join("crates").join(&arguments.component).join("mutants.yaml"))?;
    judge(&outcome, &reasons)
}

fn mutate(arguments: &Arguments, root: &Path, output: &Path) -> Command {
    let package = format!("gardener-{}", arguments.component);
    let webhooks = format!("crates/{}/src/webhooks/**/*.rs", arguments.component);
    let mut command = Command::new("cargo");
    command.current_dir(root).args([
        "mutants",
        "--no-shuffle",
        "--timeout=15",
        "--build-timeout=180",
        "--colors=never",
        "--profile=mutants",
    ]);
    command
        .arg("--package")
        .arg(package)
        .arg("--output")
        .arg(output)
        .arg(format!("--jobs={}", arguments.jobs));
    let files = if arguments.file.is_empty() { vec![webhooks] } else { arguments.file.clone() };
    for file in files {
        command.arg("--file").arg(file);
    }
    if let Some(shard) = &arguments.shard {
        command.arg("--shard").arg(shard);
    }
    command.args(["--", "--test", "contracts"]);
    command
}

fn read(outcomes: &PathBuf) -> anyhow::Result<Outcome> {
    let text = std::fs::read_to_string(outcomes)
        .with_context(|| format!("failed to read {}", outcomes.display()))?;
    let outcomes: Value = serde_json::from_str(&text)?;
    let mut read = Outcome { caught: 0, timed_out: 0, unviable: 0, survivors: Vec::new() };
    for outcome in outcomes["outcomes"].as_array().into_iter().flatten() {
        let Some(name) = outcome["scenario"]["Mutant"]["name"].as_str() else { continue };
        match outcome["summary"].as_str() {
            Some("CaughtMutant") => read.caught += 1,
            Some("Timeout") => read.timed_out += 1,
            Some("Unviable") => read.unviable += 1,
            _ => read.survivors.push(without_position(name)),
        }
    }
    Ok(read)
}

/// `crates/x/src/a.rs:10:5: replace …` without line and column, which move with every edit.
fn without_position(name: &str) -> String {
    let Some((place, change)) = name.split_once(": ") else { return name.to_owned() };
    let file = place.split(':').next().unwrap_or(place);
    format!("{file}: {change}")
}

/// `mutants.yaml`: `- mutant: …` followed by `  reason: …`.
fn reasons(file: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    if !file.exists() {
        return Ok(BTreeMap::new());
    }
    let text = std::fs::read_to_string(file)?;
    let listed: Value =
        formats::yaml::from_str(&text).with_context(|| format!("failed to read {}", file.display()))?;
    let entry = |entry: &Value| {
        let field = |name: &str| {
            entry[name]
                .as_str()
                .map(str::to_owned)
                .with_context(|| format!("{}: {name} missing", file.display()))
        };
        Ok((field("mutant")?, field("reason")?))
    };
    listed.as_array().into_iter().flatten().map(entry).collect()
}

fn judge(outcome: &Outcome, reasons: &BTreeMap<String, String>) -> anyhow::Result<()> {
    let killed = outcome.caught + outcome.timed_out;
    let viable = killed + outcome.survivors.len();
    let (excused, unexcused): (Vec<_>, Vec<_>) =
        outcome.survivors.iter().partition(|name| reasons.contains_key(*name));
    let rate = (killed * 1000).checked_div(viable).unwrap_or(0);
    let say = |line: String| println_line(&line);
    say(format!(
        "mutants   {viable} viable · {} caught · {} timed out · {} did not build",
        outcome.caught, outcome.timed_out, outcome.unviable
    ));
    say(format!(
        "kill rate {}.{} % · {} survivors with a stated reason",
        rate / 10,
        rate % 10,
        excused.len()
    ));
    for name in &excused {
        say(format!("  reason  {name}: {}", reasons[*name]));
    }
    for name in &unexcused {
        say(format!("  SURVIVED {name}"));
    }
    if viable == 0 {
        bail!("no mutant was tried");
    }
    if !unexcused.is_empty() {
        bail!(
            "{} mutants survived without a stated reason: add a case, or a reason in mutants.yaml",
            unexcused.len()
        );
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a chore tells its result on standard output")]
fn println_line(line: &str) {
    println!("{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_keeps_its_name_when_lines_move() {
        let name = "crates/x/src/a.rs:10:5: replace is_empty -> bool with true";
        assert_eq!(without_position(name), "crates/x/src/a.rs: replace is_empty -> bool with true");
    }

    #[test]
    fn a_survivor_without_a_reason_fails() {
        let outcome = Outcome { caught: 9, timed_out: 0, unviable: 1, survivors: vec!["a".into()] };
        assert!(judge(&outcome, &BTreeMap::new()).is_err());
        assert!(judge(&outcome, &BTreeMap::from([("a".to_owned(), "equivalent".to_owned())])).is_ok());
    }

    #[test]
    fn trying_nothing_is_no_success() {
        assert!(
            judge(&Outcome { caught: 0, timed_out: 0, unviable: 0, survivors: vec![] }, &BTreeMap::new())
                .is_err()
        );
    }
}
