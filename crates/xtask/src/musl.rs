//! `cargo xtask musl`: prepares cargo to build static programs, which run on this machine, in images and in clusters.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::engine::Environment;
use crate::program;
use crate::tools::Tools;

/// Where to look for tools, and where to cache them.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Arguments {
    #[command(flatten)]
    environment: Environment,
}

/// The target and the C compiler for static programs.
pub(crate) struct Musl {
    /// The target triple.
    pub(crate) triple: String,
    /// The C compiler.
    compiler: PathBuf,
}

/// Prints variables as lines that a shell can evaluate; prints nothing on other systems than Linux.
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
    /// Ensures that Rust's libraries for the target and a C compiler are installed.
    pub(crate) fn ensure(environment: &Environment) -> Result<Self> {
        let tools = Tools::with(&["musl-gcc"], &environment.path, &environment.cache.folder()?)?;
        let triple = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        program::step("Rust's libraries for static programs", || install(&triple))?;
        Ok(Self { triple, compiler: compiler(&tools)? })
    }

    /// Name and value of the variable from which build scripts read the C compiler.
    pub(crate) fn c_compiler(&self) -> (String, &Path) {
        (format!("CC_{}", self.triple.replace('-', "_")), &self.compiler)
    }
}

/// Installs the target with rustup. Without rustup, the user must install it.
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

/// The path of musl-gcc. An unpacked one looks for headers where they would be installed, so it gets specs with their real paths.
/// The path must not change, because cargo compiles again if the compiler's path changes.
fn compiler(tools: &Tools) -> Result<PathBuf> {
    let found = tools.find("musl-gcc").context("failed to find musl-gcc")?;
    let Some(root) = tools.unpacked().filter(|root| found.starts_with(root)) else { return Ok(found) };
    let libraries = format!("usr/lib/{}-linux-musl", std::env::consts::ARCH);
    let specs = root.join(&libraries).join("musl-gcc.specs");
    let text = fs::read_to_string(&specs).with_context(|| format!("failed to read {}", specs.display()))?;
    let folder = root.join("musl");
    fs::create_dir_all(&folder).with_context(|| format!("failed to create {}", folder.display()))?;
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).with_context(|| format!("failed to write {name}"))
    };
    write("specs", &text.replace("/usr/", &format!("{}/usr/", root.display())))?;
    write("gcc", &format!("#!/bin/sh\nexec gcc \"$@\" -specs {}\n", folder.join("specs").display()))?;
    let compiler = folder.join("gcc");
    program::run(Command::new("chmod").arg("+x").arg(&compiler))?;
    Ok(compiler)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_compiler_is_quoted_for_a_shell() {
        let musl = Musl {
            triple: "x86_64-unknown-linux-musl".to_owned(),
            compiler: PathBuf::from("/it's here/gcc"),
        };
        let script =
            format!("{}printf %s \"$CARGO_BUILD_TARGET $CC_x86_64_unknown_linux_musl\"", exports(&musl));
        let output = program::ask(Command::new("sh").args(["-c", &script])).expect("it is a script");
        assert_eq!(output, "x86_64-unknown-linux-musl /it's here/gcc");
    }
}
