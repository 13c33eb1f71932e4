//! `cargo xtask layout`: lists the functions that a component runs, so that the linker places them next to each other.
//!
//! A page of a program is in memory once one of its functions has run. Functions that never run, between those that do, take memory
//! as well: gardener-resource-manager would need twice its memory.

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

/// The component and its profiles.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder of the component in crates/
    #[arg(long, default_value = "resource-manager")]
    component: String,
    /// Files that `valgrind --tool=callgrind --demangle=no --compress-strings=no` wrote for the unstripped release binary; the list
    /// has the functions of the first profile first, then the further functions of the others
    #[arg(required = true)]
    profiles: Vec<PathBuf>,
}

/// Writes the component's `layout.txt`, from which its build script makes a linker script.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let component = components::named(&root(), &arguments.component)?;
    let program = component.programs.first().context("the component has no program")?;
    let (mut lines, mut kept) = (String::new(), 0);
    let mut left: Option<Vec<symbols::Symbol>> = None;
    for path in &arguments.profiles {
        let read = || format!("failed to read {}", path.display());
        let profile = Profile::parse(&std::fs::read_to_string(path).with_context(read)?, program);
        let Some(binary) = &profile.binary else {
            bail!("{} contains no function of {program}", path.display());
        };
        let symbols = match left.take() {
            Some(symbols) => symbols,
            None => symbols::read(binary)?,
        };
        let cover = cover(symbols::mark_ran(&symbols, &profile.ran));
        left = Some(symbols.into_iter().filter(|symbol| !cover.covers(&symbol.stem)).collect());
        kept += cover.size;
        for pattern in cover.patterns {
            lines += &(pattern + "\n");
        }
    }
    let file = root().join("crates").join(&arguments.component).join("layout.txt");
    std::fs::write(&file, lines).with_context(|| format!("failed to write {}", file.display()))?;
    writeln!(io::stdout(), "wrote {}: {} KiB of functions", file.display(), kept / 1024)
        .context("failed to print the size")
}
