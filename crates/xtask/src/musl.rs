//! `cargo xtask musl`: what cargo needs for static programs, which run on this machine, in images and in clusters alike.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::engine::Environment;
use crate::program;
use crate::tools::Tools;

/// Where tools are looked for, and kept.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Arguments {
    #[command(flatten)]
    environment: Environment,
}

/// What is needed to build for musl.
pub(crate) struct Musl {
    /// The target triple.
    pub(crate) triple: String,
    /// The C compiler.
    compiler: PathBuf,
}

/// Prints variables as lines for a shell to evaluate. Elsewhere than on Linux they are none: programs are the machine's.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let lines = if cfg!(target_os = "linux") {
        exports(&Musl::ensure(&arguments.environment)?)
    } else {
        String::new()
    };
    write!(io::stdout(), "{lines}").context("failed to print the variables")
}

fn exports(musl: &Musl) -> String {
    let (name, compiler) = musl.c_compiler();
    let compiler = compiler.display().to_string().replace('\'', r"'\''");
    format!("export CARGO_BUILD_TARGET={}\nexport {name}='{compiler}'\n", musl.triple)
}

impl Musl {
    /// Sees that Rust's libraries and a C compiler for it are there.
    pub(crate) fn ensure(environment: &Environment) -> Result<Self> {
        let tools = Tools::with(&["musl-gcc"], &environment.path, &environment.cache.folder()?)?;
        let triple = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        program::step("Rust's libraries for static programs", || install(&triple))?;
        Ok(Self { triple, compiler: compiler(&tools)? })
    }

    /// The variable that names the C compiler to build scripts, and its value.
    pub(crate) fn c_compiler(&self) -> (String, &Path) {
        (format!("CC_{}", self.triple.replace('-', "_")), &self.compiler)
    }
}

/// Without rustup, whoever installed Rust has to install the target.
fn install(triple: &str) -> Result<()> {
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", triple]).current_dir(crate::chore::root());
    match rustup.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Ok(status) => {
            ensure!(status.success(), "`rustup target add {triple}` failed: {status}; run it to see why");
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).context("failed to start rustup"),
    }
}

/// musl-gcc; one that was unpacked looks for its headers where they would be installed, so it gets specs with their real paths. It
/// keeps its path, as what is compiled by another compiler is compiled anew.
fn compiler(tools: &Tools) -> Result<PathBuf> {
    let found = tools.find("musl-gcc").context("musl-gcc was found")?;
    let Some(root) = tools.unpacked().filter(|root| found.starts_with(root)) else { return Ok(found) };
    let libraries = format!("usr/lib/{}-linux-musl", std::env::consts::ARCH);
    let specs = root.join(&libraries).join("musl-gcc.specs");
    let text = fs::read_to_string(&specs).with_context(|| format!("failed to read {}", specs.display()))?;
    let here = root.join("musl");
    fs::create_dir_all(&here).with_context(|| format!("failed to make {}", here.display()))?;
    let write = |name: &str, text: &str| {
        fs::write(here.join(name), text).with_context(|| format!("failed to write {name}"))
    };
    write("specs", &text.replace("/usr/", &format!("{}/usr/", root.display())))?;
    write("gcc", &format!("#!/bin/sh\nexec gcc \"$@\" -specs {}\n", here.join("specs").display()))?;
    let compiler = here.join("gcc");
    program::run(Command::new("chmod").arg("+x").arg(&compiler))?;
    Ok(compiler)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_the_compiler_whatever_its_path_has() {
        let musl = Musl {
            triple: "x86_64-unknown-linux-musl".to_owned(),
            compiler: PathBuf::from("/it's here/gcc"),
        };
        let script =
            format!("{}printf %s \"$CARGO_BUILD_TARGET $CC_x86_64_unknown_linux_musl\"", exports(&musl));
        let said = program::ask(Command::new("sh").args(["-c", &script])).expect("it is a script");
        assert_eq!(said, "x86_64-unknown-linux-musl /it's here/gcc");
    }
}
