//! `cargo xtask images`: our components as static programs, each alone in an image; with `--tool` the tool itself.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::engine::{self, Environment};
use crate::musl::Musl;
use crate::program;
use crate::tools::Tools;
use xtask::components::{self, Component};

/// Programs whose images are built together.
struct Wanted {
    /// Below kind/images; its argument `PROGRAM` says which program the image is of.
    recipe: &'static str,
    /// The package of each, and its program.
    programs: Vec<(String, String)>,
}

/// What every image starts.
const ENTRYPOINT: &str = "component";

/// The package of the tool, and its program.
const TOOL: (&str, &str) = ("cli", "gardener-conformance");

impl Wanted {
    fn components() -> Result<Self> {
        let components = components::all(&crate::chore::root())?.into_iter();
        let programs = components.flat_map(|Component { package, programs, .. }| {
            programs.into_iter().map(move |program| (package.clone(), program))
        });
        Ok(Self { recipe: "Dockerfile", programs: programs.collect() })
    }

    /// The tool, for those who have no Rust.
    fn tool() -> Self {
        let (package, program) = TOOL;
        Self { recipe: "Dockerfile.tool", programs: vec![(package.to_owned(), program.to_owned())] }
    }
}

/// How they are built.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Arguments {
    /// Cargo's profile
    #[arg(long, default_value = "release")]
    profile: String,
    /// Builds the image of gardener-conformance, and those of no component
    #[arg(long)]
    tool: bool,
    /// Compiles them in one build with gardener-conformance, so that no library is compiled twice; they have more of libraries in
    /// them then
    #[arg(long, conflicts_with = "tool")]
    together: bool,
    #[command(flatten)]
    environment: Environment,
    #[arg(long, env = "CARGO_TARGET_DIR", hide = true, default_value = "target")]
    target_folder: PathBuf,
}

/// Builds each, and prints name, digest and size.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "images are built on Linux: their programs are for it");
    let tools = engine::ensure_running(&arguments.environment)?;
    let musl = Musl::ensure(&arguments.environment)?;
    let wanted = &if arguments.tool { Wanted::tool() } else { Wanted::components()? };
    program::step("static programs", || compile(&musl, arguments, wanted))?;
    let folder = crate::chore::root().join(&arguments.target_folder).join(&musl.triple);
    let folder = folder.join(if arguments.profile == "dev" { "debug" } else { &arguments.profile });
    let context = gathered(&folder, wanted)?;
    for (_, component) in &wanted.programs {
        let image = format!("gardener-conformance/{component}:local");
        program::step(&image, || build(&tools, (wanted.recipe, component), &image, context.path()))?;
        let size = fs::metadata(folder.join(component)).context("the program was built")?.len();
        let mut asking = tools.command("docker");
        asking.args(["image", "inspect", "--format", "{{.ID}} {{.Size}}", &image]);
        let said = program::ask(&mut asking)?;
        let (id, bytes) = said.split_once(' ').unwrap_or((&said, ""));
        writeln!(io::stdout(), "{image} {id} {bytes} bytes (program {size})").context("failed to print")?;
    }
    Ok(())
}

fn compile(musl: &Musl, arguments: &Arguments, wanted: &Wanted) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--profile", &arguments.profile, "--target", &musl.triple]);
    let programs = wanted.programs.iter().map(|(package, program)| (package.as_str(), program.as_str()));
    for (package, program) in programs.chain(arguments.together.then_some(TOOL)) {
        cargo.args(["--package", package, "--bin", program]);
    }
    let (variable, compiler) = musl.c_compiler();
    cargo.env(variable, compiler).current_dir(crate::chore::root());
    program::run(&mut cargo)
        .with_context(|| format!("is the target there? `rustup target add {}` installs it", musl.triple))
}

/// A folder with what lies at the root of each image: the program, and the entrypoint, a link to it.
fn gathered(folder: &Path, wanted: &Wanted) -> Result<tempfile::TempDir> {
    let context = tempfile::tempdir().context("failed to make a folder for the images")?;
    for (_, program) in &wanted.programs {
        let root = context.path().join(program);
        let copied = fs::create_dir(&root).and_then(|()| fs::copy(folder.join(program), root.join(program)));
        copied.with_context(|| format!("failed to copy {program}"))?;
        symlink(program, root.join(ENTRYPOINT)).with_context(|| format!("failed to link {program}"))?;
    }
    Ok(context)
}

fn build(tools: &Tools, (recipe, program): (&str, &str), image: &str, context: &Path) -> Result<()> {
    let mut building = tools.command("docker");
    let program = format!("PROGRAM={program}");
    building.args(["build", "--quiet", "--tag", image, "--build-arg", &program, "--file"]);
    building.arg(crate::chore::root().join("kind/images").join(recipe)).arg(context);
    program::ask(&mut building).map(|_| ())
}
