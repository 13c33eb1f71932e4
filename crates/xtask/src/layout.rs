//! `cargo xtask layout`: which functions of a component run, so that the linker puts them side by side.
//!
//! A page of a program is in memory once one function of it ran. Functions that never run between those that do are
//! paid for as well: for gardener-resource-manager with twice its memory.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::chore::root;

/// Longer names are cut: what they begin with tells enough.
const LONGEST: usize = 120;

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
    let program = format!("gardener-{}", arguments.component);
    let (mut named, mut lines) = (BTreeSet::new(), String::new());
    for path in &arguments.profiles {
        let profile =
            std::fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
        let patterns = patterns(&profile, &program);
        if patterns.is_empty() {
            bail!("{} names no function of {program}", path.display());
        }
        for pattern in patterns {
            if named.insert(pattern.clone()) {
                lines += &(pattern + "\n");
            }
        }
    }
    let file = root().join("crates").join(&arguments.component).join("layout.txt");
    std::fs::write(&file, lines).with_context(|| format!("failed to write {}", file.display()))
}

/// Names of all functions that ran and belong to the program.
fn patterns(profile: &str, program: &str) -> BTreeSet<String> {
    let mut ours = false;
    let mut patterns = BTreeSet::new();
    for line in profile.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            // A section that is laid out already is of no object that callgrind knows.
            ours = object == "???" || Path::new(object).file_name().is_some_and(|name| name == program);
        } else if let Some(name) = line.strip_prefix("fn=").filter(|_| ours) {
            patterns.extend(pattern(name));
        }
    }
    patterns
}

/// The name of a function, without what changes with every compiler and every version of a dependency.
fn pattern(name: &str) -> Option<String> {
    let name = name.split('\'').next().unwrap_or_default();
    let stem = match name.split_once('_')? {
        _ if name.starts_with("0x") || name.starts_with('(') => return None,
        ("", rest) if rest.starts_with("ZN") => name.rsplit_once("17h")?.0.to_owned() + "17h*",
        ("", rest) if rest.starts_with('R') => without_crate_hashes(name) + "*",
        ("aws", rest) => {
            let number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            let versioned = rest.split('_').skip_while(|part| *part == "lc" || number(part));
            let versioned = versioned.collect::<Vec<_>>().join("_");
            format!("aws_lc_*_{versioned}")
        }
        _ => name.to_owned(),
    };
    Some(if stem.len() > LONGEST { format!("{}*", &stem[..LONGEST]) } else { stem })
}

/// `Cs4fqI2P2rA04_4core` as `Cs*_4core`.
fn without_crate_hashes(name: &str) -> String {
    let mut parts = name.split("Cs");
    let mut stem = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        stem.push_str("Cs");
        match part.split_once('_') {
            Some((hash, rest)) if hash.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                stem.push_str("*_");
                stem.push_str(rest);
            }
            _ => stem.push_str(part),
        }
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_program_that_ran_are_laid_out() {
        let profile = "ob=/usr/lib/libc.so.6\nfn=memcpy\nob=/tmp/gardener-x\nfn=0x0000000000001100\n\
                       fn=_ZN5tokio4time3now17h0123456789abcdefE\nfn=_ZN5tokio4time3now17hfedcba9876543210E'2\n\
                       fn=_RNvNtCs4fqI2P2rA04_4core3fmt5write\nfn=aws_lc_0_47_0_cbs_get_u8\nob=???\nfn=mi_free\n";
        let found = patterns(profile, "gardener-x").into_iter().collect::<Vec<_>>();
        assert_eq!(
            found,
            ["_RNvNtCs*_4core3fmt5write*", "_ZN5tokio4time3now17h*", "aws_lc_*_cbs_get_u8", "mi_free"]
        );
    }

    #[test]
    fn long_names_are_cut() {
        let name = format!("_ZN{}17h0123456789abcdefE", "5tokio".repeat(40));
        assert_eq!(pattern(&name).map(|pattern| (pattern.len(), pattern.ends_with('*'))), Some((121, true)));
    }
}
