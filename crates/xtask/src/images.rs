//! `cargo xtask images`: our components as static programs, each alone in an image; with `--tool` the tool itself.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::engine::{self, Environment};
use crate::musl::Musl;
use crate::program;
use crate::tools::Tools;

/// Programs whose images are built together.
struct Wanted {
    /// Below kind/images; a target of it has the program's name.
    recipe: &'static str,
    /// Package of each, and its program.
    programs: &'static [(&'static str, &'static str)],
}

const COMPONENTS: Wanted = Wanted {
    recipe: "Dockerfile",
    programs: &[
        ("gardener-resource-manager", "gardener-resource-manager"),
        ("garden-admission", "gardener-garden-admission"),
        ("controlplane-webhooks", "gardener-controlplane-webhooks"),
        ("gardener-controller-manager", "gardener-controller-manager"),
    ],
};

/// The tool, for those who have no Rust.
const TOOL: Wanted = Wanted { recipe: "Dockerfile.tool", programs: &[("cli", "gardener-conformance")] };

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
    let wanted = if arguments.tool { &TOOL } else { &COMPONENTS };
    program::step("static programs", || compile(&musl, arguments, wanted))?;
    let folder = crate::chore::root().join(&arguments.target_folder).join(&musl.triple);
    let folder = folder.join(if arguments.profile == "dev" { "debug" } else { &arguments.profile });
    let context = gathered(&folder, wanted)?;
    for (_, component) in wanted.programs {
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
    let tool = TOOL.programs.iter().filter(|_| arguments.together);
    for (package, program) in wanted.programs.iter().chain(tool) {
        cargo.args(["--package", package, "--bin", program]);
    }
    let (variable, compiler) = musl.c_compiler();
    cargo.env(variable, compiler).current_dir(crate::chore::root());
    program::run(&mut cargo)
        .with_context(|| format!("is the target there? `rustup target add {}` installs it", musl.triple))
}

/// A folder with all programs and nothing else: Docker's old builder goes through the images above the one that is wanted.
fn gathered(folder: &Path, wanted: &Wanted) -> Result<tempfile::TempDir> {
    let context = tempfile::tempdir().context("failed to make a folder for the images")?;
    for (_, program) in wanted.programs {
        fs::copy(folder.join(program), context.path().join(program))
            .with_context(|| format!("failed to copy {program}"))?;
    }
    Ok(context)
}

fn build(tools: &Tools, (recipe, target): (&str, &str), image: &str, context: &Path) -> Result<()> {
    let mut building = tools.command("docker");
    building.args(["build", "--quiet", "--tag", image, "--target", target, "--file"]);
    building.arg(crate::chore::root().join("kind/images").join(recipe)).arg(context);
    program::ask(&mut building).map(|_| ())
}
