//! `cargo xtask layout`: which functions of a component run, so that the linker puts them side by side.
//!
//! A page of a program is in memory once one function of it ran. Functions that never run between those that do are
//! paid for as well: for gardener-resource-manager with twice its memory.

mod cover;
mod profile;
mod stem;
mod symbols;

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Context, bail};

use self::cover::cover;
use self::profile::Profile;
use crate::chore::root;
use xtask::components;

/// What was seen to run.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder under crates/
    #[arg(long, default_value = "resource-manager")]
    component: String,
    /// What `valgrind --tool=callgrind --demangle=no --compress-strings=no` wrote of its unstripped release binary; what
    /// ran in the first profile comes first, then what others add to it
    #[arg(required = true)]
    profiles: Vec<PathBuf>,
}

/// Writes `layout.txt` of the component, from which its build script makes a linker script.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let component = components::named(&root(), &arguments.component)?;
    let program = component.programs.first().context("a component has a program")?;
    let (mut lines, mut kept) = (String::new(), 0);
    let mut left: Option<Vec<symbols::Symbol>> = None;
    for path in &arguments.profiles {
        let read = || format!("failed to read {}", path.display());
        let profile = Profile::parse(&std::fs::read_to_string(path).with_context(read)?, program);
        let Some(binary) = &profile.binary else {
            bail!("{} names no function of {program}", path.display());
        };
        let symbols = match left.take() {
            Some(symbols) => symbols,
            None => symbols::read(binary)?,
        };
        let cover = cover(symbols::seen(&symbols, &profile.ran));
        left = Some(symbols.into_iter().filter(|symbol| !cover.covers(&symbol.stem)).collect());
        kept += cover.size;
        for pattern in cover.patterns {
            lines += &(pattern + "\n");
        }
    }
    let file = root().join("crates").join(&arguments.component).join("layout.txt");
    std::fs::write(&file, lines).with_context(|| format!("failed to write {}", file.display()))?;
    writeln!(io::stdout(), "{}: {} KiB side by side", file.display(), kept / 1024)
        .context("failed to print the size")
}
