//! `cargo xtask images`: builds an image of each component with a static program; with `--tool` an image of the tool instead.

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

/// Images that are built from one Dockerfile.
struct ImageSet {
    /// The Dockerfile in kind/images. Its argument `PROGRAM` selects the program.
    recipe: &'static str,
    /// The package and the program of each image.
    programs: Vec<(String, String)>,
}

/// The path that every image starts.
const ENTRYPOINT: &str = "component";

/// The package and the program of the tool.
const TOOL: (&str, &str) = ("cli", "gardener-conformance");

impl ImageSet {
    fn components() -> Result<Self> {
        let components = components::all(&crate::chore::root())?.into_iter();
        let programs = components.flat_map(|Component { package, programs, .. }| {
            programs.into_iter().map(move |program| (package.clone(), program))
        });
        Ok(Self { recipe: "Dockerfile", programs: programs.collect() })
    }

    /// The tool, for users without Rust.
    fn tool() -> Self {
        let (package, program) = TOOL;
        Self { recipe: "Dockerfile.tool", programs: vec![(package.to_owned(), program.to_owned())] }
    }
}

/// How images are built.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Arguments {
    /// Cargo profile
    #[arg(long, default_value = "release")]
    profile: String,
    /// Build the image of gardener-conformance instead of those of components
    #[arg(long)]
    tool: bool,
    /// Compile the components and gardener-conformance in one build, so that no library is compiled twice; the programs get larger,
    /// because each has the features of libraries that any of them needs
    #[arg(long, conflicts_with = "tool")]
    together: bool,
    #[command(flatten)]
    environment: Environment,
    #[arg(long, env = "CARGO_TARGET_DIR", hide = true, default_value = "target")]
    target_folder: PathBuf,
}

/// Builds the images, and prints name, digest and size of each.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(
        cfg!(target_os = "linux"),
        "images can be built on Linux only, because their programs are for Linux"
    );
    let tools = engine::ensure_running(&arguments.environment)?;
    let musl = Musl::ensure(&arguments.environment)?;
    let images = &if arguments.tool { ImageSet::tool() } else { ImageSet::components()? };
    program::step("static programs", || compile(&musl, arguments, images))?;
    let folder = crate::chore::root().join(&arguments.target_folder).join(&musl.triple);
    let folder = folder.join(if arguments.profile == "dev" { "debug" } else { &arguments.profile });
    let context = build_context(&folder, images)?;
    for (_, component) in &images.programs {
        let image = format!("gardener-conformance/{component}:local");
        program::step(&image, || build(&tools, (images.recipe, component), &image, context.path()))?;
        let size =
            fs::metadata(folder.join(component)).context("failed to read the size of the program")?.len();
        let mut inspect = tools.command("docker");
        inspect.args(["image", "inspect", "--format", "{{.ID}} {{.Size}}", &image]);
        let output = program::ask(&mut inspect)?;
        let (id, bytes) = output.split_once(' ').unwrap_or((&output, ""));
        writeln!(io::stdout(), "{image} {id} {bytes} bytes (program {size})").context("failed to print")?;
    }
    Ok(())
}

fn compile(musl: &Musl, arguments: &Arguments, images: &ImageSet) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--profile", &arguments.profile, "--target", &musl.triple]);
    let programs = images.programs.iter().map(|(package, program)| (package.as_str(), program.as_str()));
    for (package, program) in programs.chain(arguments.together.then_some(TOOL)) {
        cargo.args(["--package", package, "--bin", program]);
    }
    let (variable, compiler) = musl.c_compiler();
    cargo.env(variable, compiler).current_dir(crate::chore::root());
    program::run(&mut cargo).with_context(|| {
        format!(
            "failed to compile; if the target is missing, `rustup target add {}` installs it",
            musl.triple
        )
    })
}

/// Creates a folder with the root of each image: the program, and the entrypoint as a link to it.
fn build_context(folder: &Path, images: &ImageSet) -> Result<tempfile::TempDir> {
    let context = tempfile::tempdir().context("failed to create a folder for the images")?;
    for (_, program) in &images.programs {
        let root = context.path().join(program);
        let copied = fs::create_dir(&root).and_then(|()| fs::copy(folder.join(program), root.join(program)));
        copied.with_context(|| format!("failed to copy {program}"))?;
        symlink(program, root.join(ENTRYPOINT)).with_context(|| format!("failed to link {program}"))?;
    }
    Ok(context)
}

fn build(tools: &Tools, (recipe, program): (&str, &str), image: &str, context: &Path) -> Result<()> {
    let mut docker = tools.command("docker");
    let program = format!("PROGRAM={program}");
    docker.args(["build", "--quiet", "--tag", image, "--build-arg", &program, "--file"]);
    docker.arg(crate::chore::root().join("kind/images").join(recipe)).arg(context);
    program::ask(&mut docker).map(|_| ())
}
