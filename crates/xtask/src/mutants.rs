//! `cargo xtask mutants`: changes the code of webhooks and controllers, one place at a time, with the contracts as the only tests.
//!
//! A change that no contract notices is a missing clause, unless `mutants.yaml` beside the crate says why not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::chore::root;
use xtask::components::{self, Component};

/// Which component's code is changed.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The component whose code is changed; default: each in turn
    #[arg(long)]
    component: Option<String>,
    /// Only these files, as paths from the root (repeatable); default: the component's webhooks and controllers
    #[arg(long)]
    file: Vec<String>,
    /// Only mutants whose name matches this regular expression (repeatable)
    #[arg(long)]
    re: Vec<String>,
    /// Which part of the mutants, such as 0/8
    #[arg(long)]
    shard: Option<String>,
    /// Seconds after which the contracts count as hanging; more on a busy machine
    #[arg(long, default_value_t = 60)]
    timeout: u16,
    /// Change the files where they are, in a clone that nobody edits, and keep what is built there
    #[arg(long)]
    in_place: bool,
    /// Mutants tried side by side
    #[arg(long, default_value_t = 1)]
    jobs: u8,
}

/// What became of the mutants.
#[derive(Default)]
struct Outcome {
    caught: usize,
    timed_out: usize,
    unviable: usize,
    survivors: Vec<String>,
    modules: BTreeMap<String, Module>,
    /// Building and testing, all mutants together.
    seconds: f64,
}

/// What became of the mutants of one module.
#[derive(Default)]
struct Module {
    killed: usize,
    viable: usize,
}

/// The folders of a component that decide.
const DECIDING: [&str; 2] = ["src/webhooks", "src/controllers"];

/// Runs cargo-mutants for each component, prints the kill rates, and fails on a survivor without a stated reason.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = root().canonicalize()?;
    let components = match &arguments.component {
        Some(name) => vec![components::named(&root, name)?],
        None => components::all(&root)?,
    };
    let outcomes: Vec<anyhow::Result<()>> =
        components.iter().map(|component| of_component(arguments, component, &root)).collect();
    outcomes.into_iter().collect()
}

fn of_component(arguments: &Arguments, component: &Component, root: &Path) -> anyhow::Result<()> {
    println_line(&component.name);
    let output = root.join("target/mutants").join(&component.name);
    std::fs::create_dir_all(&output)?;
    let status = mutate(arguments, component, (root, &output))
        .status()
        .context("failed to start cargo mutants (make mutants installs it)")?;
    // 2: mutants survived, 3: some timed out; both are judged below.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        bail!("cargo mutants ended with {status}: do the contracts pass without a mutation?");
    }
    let outcome = read(&output.join("mutants.out/outcomes.json"))?;
    let reasons = reasons(&root.join("crates").join(&component.name).join("mutants.yaml"))?;
    judge(&outcome, &reasons)
}

fn mutate(arguments: &Arguments, component: &Component, (root, output): (&Path, &Path)) -> Command {
    let mut command = Command::new("cargo");
    // The test ends with the first case that fails; what has been built of a crate is kept from mutant to mutant.
    command.current_dir(root).env("FAIL_FAST", "1").env("CARGO_INCREMENTAL", "1");
    command.args(["mutants", "--no-shuffle", "--colors=never", "--profile=mutants"]);
    // Given to every call of cargo: else the unit tests, which are never run, are built with each mutant.
    command.arg("--cargo-arg=--test=contracts");
    command.arg("--package").arg(&component.package).arg("--output").arg(output);
    command.arg(format!("--timeout={}", arguments.timeout)).arg("--build-timeout=600");
    let files = if arguments.file.is_empty() { deciding(root, component) } else { arguments.file.clone() };
    for file in files {
        command.arg("--file").arg(file);
    }
    for name in &arguments.re {
        command.arg("--re").arg(name);
    }
    if let Some(shard) = &arguments.shard {
        command.arg("--shard").arg(shard);
    }
    // In place there is one tree, and room for one job.
    command.arg(if arguments.in_place {
        "--in-place".to_owned()
    } else {
        format!("--jobs={}", arguments.jobs)
    });
    command
}

/// The files of a component that decide, as globs from the root.
fn deciding(root: &Path, component: &Component) -> Vec<String> {
    let folders = DECIDING.iter().map(|folder| format!("crates/{}/{folder}", component.name));
    folders.filter(|folder| root.join(folder).is_dir()).map(|folder| format!("{folder}/**/*.rs")).collect()
}

fn read(outcomes: &PathBuf) -> anyhow::Result<Outcome> {
    let text = std::fs::read_to_string(outcomes)
        .with_context(|| format!("failed to read {}", outcomes.display()))?;
    Ok(tell(&serde_json::from_str(&text)?))
}

fn tell(outcomes: &Value) -> Outcome {
    let mut told = Outcome::default();
    for outcome in outcomes["outcomes"].as_array().into_iter().flatten() {
        let Some(name) = outcome["scenario"]["Mutant"]["name"].as_str() else { continue };
        let phases = outcome["phase_results"].as_array().into_iter().flatten();
        told.seconds += phases.filter_map(|phase| phase["duration"].as_f64()).sum::<f64>();
        let killed = match outcome["summary"].as_str() {
            Some("Unviable") => {
                told.unviable += 1;
                continue;
            }
            Some("CaughtMutant") => {
                told.caught += 1;
                true
            }
            Some("Timeout") => {
                told.timed_out += 1;
                true
            }
            _ => {
                told.survivors.push(without_position(name));
                false
            }
        };
        let module = told.modules.entry(module(name).to_owned()).or_default();
        module.viable += 1;
        module.killed += usize::from(killed);
    }
    told
}

/// `a` of `crates/x/src/webhooks/a.rs:10:5: replace …` and of `crates/x/src/controllers/a/b.rs:10:5: replace …`.
fn module(name: &str) -> &str {
    let file = name.split(':').next().unwrap_or(name);
    let folder = |folder: &&str| file.split_once(*folder).map(|(_, below)| below.trim_start_matches('/'));
    let below = DECIDING.iter().find_map(folder).unwrap_or(file);
    below.split(['/', '.']).next().unwrap_or(below)
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
    for (name, module) in &outcome.modules {
        say(format!("{:<34}{} of {} killed", name, module.killed, module.viable));
    }
    let tried = u32::try_from(viable + outcome.unviable).unwrap_or(u32::MAX);
    say(format!(
        "mutants   {viable} viable · {} caught · {} timed out · {} did not build · {:.1} s each",
        outcome.caught,
        outcome.timed_out,
        outcome.unviable,
        outcome.seconds / f64::from(tried.max(1))
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
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mutant_keeps_its_name_when_lines_move() {
        let name = "crates/x/src/a.rs:10:5: replace is_empty -> bool with true";
        assert_eq!(without_position(name), "crates/x/src/a.rs: replace is_empty -> bool with true");
    }

    #[test]
    fn mutants_are_counted_by_module() {
        let mutant = |name: &str, summary: &str| json!({"scenario": {"Mutant": {"name": name}}, "summary": summary, "phase_results": [{"duration": 2.0}, {"duration": 0.5}]});
        let told = tell(&json!({"outcomes": [
            {"scenario": "Baseline", "summary": "Success", "phase_results": [{"duration": 60.0}]},
            mutant("crates/x/src/webhooks/a.rs:1:2: replace f with ()", "CaughtMutant"),
            mutant("crates/x/src/webhooks/a.rs:3:4: replace < with >", "MissedMutant"),
            mutant("crates/x/src/webhooks/b/c.rs:5:6: delete !", "Timeout"),
            mutant("crates/x/src/webhooks/b/mod.rs:7:8: delete !", "Unviable"),
        ]}));
        assert_eq!((told.caught, told.timed_out, told.unviable), (1, 1, 1));
        assert_eq!(told.survivors, ["crates/x/src/webhooks/a.rs: replace < with >"]);
        let modules: Vec<_> =
            told.modules.iter().map(|(name, of)| (name.as_str(), of.killed, of.viable)).collect();
        assert_eq!(modules, [("a", 1, 2), ("b", 1, 1)]);
        assert!((told.seconds - 10.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_survivor_without_a_reason_fails() {
        let outcome = Outcome { caught: 9, unviable: 1, survivors: vec!["a".into()], ..Outcome::default() };
        assert!(judge(&outcome, &BTreeMap::new()).is_err());
        assert!(judge(&outcome, &BTreeMap::from([("a".to_owned(), "equivalent".to_owned())])).is_ok());
    }

    #[test]
    fn trying_nothing_is_no_success() {
        assert!(judge(&Outcome::default(), &BTreeMap::new()).is_err());
    }
}
