//! Starts the test program once for each mutant.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::instrument::Mutant;

/// The test that runs every contract of a component; `crates/*/tests/contracts.rs` have it.
const TEST: &str = "every_contract_is_kept_and_proven_able_to_fail";

/// How often the time is checked while a test runs.
const POLL: Duration = Duration::from_millis(5);

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// A case failed.
    Noticed,
    /// The contracts did not end in time, twice.
    Hung,
    /// Every case passed.
    Survived,
}

/// Tries mutants, `jobs` at a time, and hands each on when it is decided; ends early when `decided` returns false.
pub(super) fn try_all(
    program: &Path,
    crate_folder: &Path,
    mutants: &[Mutant],
    jobs: usize,
    decided: &(dyn Fn(&Mutant, Fate, Duration) -> Result<bool> + Sync),
) -> Result<()> {
    let begun = Instant::now();
    match run(program, crate_folder, None, Duration::from_mins(10))? {
        Some(true) => {}
        Some(false) => bail!("the contracts fail without a mutant: cargo test --test contracts shows why"),
        None => bail!("the contracts take more than ten minutes without a mutant"),
    }
    // A mutant that hangs in virtual time uses a core for ever; a busy machine is slow, and no reason to call it noticed.
    let limit = begun.elapsed() * 4 + Duration::from_secs(20);
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let work = || {
        while let Some(mutant) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
            let begun = Instant::now();
            let fate = fate(program, crate_folder, mutant, limit);
            let result = fate.and_then(|fate| decided(mutant, fate, begun.elapsed()));
            if let Ok(true) = result {
                continue;
            }
            next.store(mutants.len(), Ordering::Relaxed);
            if let (Err(error), Ok(mut failure)) = (result, failure.lock()) {
                *failure = Some(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(work);
        }
    });
    failure.into_inner().ok().flatten().map_or(Ok(()), Err)
}

fn fate(program: &Path, crate_folder: &Path, mutant: &Mutant, limit: Duration) -> Result<Fate> {
    for limit in [limit, limit * 3] {
        match run(program, crate_folder, Some(mutant), limit)? {
            Some(true) => return Ok(Fate::Survived),
            Some(false) => return Ok(Fate::Noticed),
            None => {}
        }
    }
    Ok(Fate::Hung)
}

/// Whether the test passes; `None` if it does not end in time.
fn run(
    program: &Path,
    crate_folder: &Path,
    mutant: Option<&Mutant>,
    limit: Duration,
) -> Result<Option<bool>> {
    let mut command = Command::new(program);
    command.args([TEST, "--exact"]).current_dir(crate_folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(mutant) = mutant {
        // The contract of the changed module runs first, and the first case that fails ends the test.
        let module = mutant.file.split_once("/src/").map_or("", |(_, module)| module);
        command.env("MUTANT", mutant.id.to_string()).env("MUTATED_MODULE", module);
    }
    let mut child = command.spawn().with_context(|| format!("failed to start {}", program.display()))?;
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().context("failed to wait for the test")? {
            return Ok(Some(status.success()));
        }
        if begun.elapsed() > limit {
            child.kill().and_then(|()| child.wait()).context("failed to end the test")?;
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}
