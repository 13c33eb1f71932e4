//! `cargo xtask slope`: measures commands with the project's contracts, and with a multiple of them. The cost of a command should
//! depend on what it selects, so only `list` and `lint`, which read everything, may grow; and slightly all commands that read a
//! folder of contracts.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::chore;

/// The component to run: the largest. The copied contracts are about other components, so running it should cost the same.
const COMPONENT: &str = "resource-manager";
/// A clause of that component.
const CLAUSE: &str = "GRM-HAC-001";
/// Runs of each command; the median is printed.
const RUNS: usize = 5;
/// Time between two measurements of a program's memory.
const PAUSE: Duration = Duration::from_millis(1);

/// What to measure.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Arguments {
    /// How many times as many contracts to measure with
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..=100))]
    times: u16,
    /// Program to measure [default: built with `cargo build --release`]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Wall time and peak memory of a command.
#[derive(Clone, Copy)]
struct Cost {
    took: Duration,
    /// Kibibytes.
    memory: u64,
}

/// Prints time and memory of each command, with the current contracts and with copies.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "slope reads memory from /proc, which exists on Linux only");
    let program = match &arguments.program {
        Some(program) => program.clone(),
        None => build_tool()?,
    };
    let folder = tempfile::tempdir().context("failed to create a folder for contracts")?;
    let copies = folder.path().join("contracts");
    for number in 1..arguments.times {
        copy_contracts(&chore::root().join("contracts"), &copies, number)?;
    }
    let report = folder.path().join("report").display().to_string();
    let label = format!("component={COMPONENT}");
    let commands: [(&str, &[&str], usize); 5] = [
        ("list", &["list"], RUNS),
        ("explain", &["explain", CLAUSE], RUNS),
        ("run --clause", &["run", "--clause", CLAUSE, "--report", &report], RUNS),
        ("lint", &["lint"], RUNS),
        ("run --label", &["run", "--label", &label, "--report", &report], 1),
    ];
    let mut out = io::stdout();
    writeln!(out, "{:14} {:>20} {:>20}", "", "contracts", format!("{} times", arguments.times))?;
    for (name, words, runs) in commands {
        let once = median(&program, words, None, runs)?;
        let many = median(&program, words, Some(&copies), runs)?;
        writeln!(out, "{name:14} {once:>20} {many:>20}")?;
    }
    Ok(())
}

fn build_tool() -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--quiet", "--package", "cli"]).current_dir(chore::root());
    crate::program::run(&mut cargo)?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| chore::root().join("target"), PathBuf::from);
    Ok(target.join("release/gardener-conformance"))
}

/// Copies the contracts of a folder with other ids of clauses and another component.
fn copy_contracts(from: &Path, into: &Path, number: u16) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("failed to list {}", from.display()))? {
        let path = entry.context("failed to list contracts")?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "fixtures" {
            copy_contracts(&path, &into.join(format!("{name}-{number}")), number)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))?;
            if text.contains("kind: Contract") {
                fs::create_dir_all(into).context("failed to create a folder of contracts")?;
                fs::write(into.join(&name), rename(&text, number)).context("failed to write a contract")?;
            }
        }
    }
    Ok(())
}

/// Changes the ids of the clauses and the name of the component in a contract.
fn rename(text: &str, number: u16) -> String {
    let component = |line: &str| line.contains("labels: {component: ");
    let lines = text.lines().map(|line| {
        if component(line) {
            return line.replacen("component: ", &format!("component: c{number}-"), 1);
        }
        rename_clauses(line, number)
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Appends a number to every id of a clause in a line: `GRM-HAC-001` becomes `GRM-HAC-001-3`.
fn rename_clauses(line: &str, number: u16) -> String {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
    let mut changed = String::new();
    for word in line.split_inclusive(|c: char| !is_part(c)) {
        let end = word.find(|c: char| !is_part(c)).unwrap_or(word.len());
        let (id, rest) = word.split_at(end);
        let is_id = id.rsplit_once('-').is_some_and(|(prefix, digits)| {
            prefix.starts_with(|c: char| c.is_ascii_uppercase())
                && digits.len() == 3
                && digits.bytes().all(|digit| digit.is_ascii_digit())
        });
        changed.push_str(id);
        if is_id {
            changed.extend(["-", &number.to_string()]);
        }
        changed.push_str(rest);
    }
    changed
}

fn median(program: &Path, words: &[&str], contracts: Option<&Path>, runs: usize) -> Result<Cost> {
    let mut costs = Vec::new();
    for _ in 0..runs {
        let mut command = Command::new(program);
        command.args(words);
        if let Some(contracts) = contracts {
            command.arg("--contracts").arg(contracts);
        }
        costs.push(measure(&mut command)?);
    }
    costs.sort_by_key(|cost| cost.took);
    Ok(costs[runs / 2])
}

/// Runs a command and measures it.
fn measure(command: &mut Command) -> Result<Cost> {
    let begun = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().context("failed to start the tool")?;
    let status = format!("/proc/{}/status", child.id());
    let mut memory = 0;
    let code = loop {
        memory = peak_memory(&status).unwrap_or_default().max(memory);
        if let Some(code) = child.try_wait().context("failed to wait for the tool")? {
            break code;
        }
        std::thread::sleep(PAUSE);
    };
    // 2, because lint reports that ledgers and other records do not contain the copied clauses.
    ensure!(matches!(code.code(), Some(0 | 2)), "{command:?} ended with {code}");
    Ok(Cost { took: begun.elapsed(), memory })
}

/// Peak memory of a process in KiB.
fn peak_memory(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{:.2} s {:5} MB", self.took.as_secs_f64(), self.memory / 1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_looks_like_the_id_of_a_clause_is_renamed() {
        let text = "metadata:\n  labels: {component: resource-manager}\nspec:\n  clauses:\n  - id: GRM-HAC-001\n    \
                    presupposes: [CP-002, X-1]\n    table: |\n      | SHA-256 | v1.2 |\n";
        let want = "metadata:\n  labels: {component: c3-resource-manager}\nspec:\n  clauses:\n  - id: GRM-HAC-001-3\n    \
                    presupposes: [CP-002-3, X-1]\n    table: |\n      | SHA-256-3 | v1.2 |\n";
        assert_eq!(rename(text, 3), want);
    }
}
