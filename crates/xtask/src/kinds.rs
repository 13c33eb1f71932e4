//! `cargo xtask kinds`: writes what crates/schema knows of Kubernetes from what a real server and Go's types say.

mod answers;
mod bundle;
mod crds;
mod garden;
mod messages;
mod server;
mod started;
mod trim;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::control_plane;

/// Whether to write or to compare.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail if a file is not what would be written
    #[arg(long)]
    check: bool,
    /// Only what is made of the project's own CRDs, for which no server is needed
    #[arg(long)]
    crds: bool,
    #[command(flatten)]
    control_plane: control_plane::Arguments,
}

/// A file below crates and what it is to hold.
struct Generated {
    path: String,
    bytes: Vec<u8>,
}

/// Writes or compares the files.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let crates = crate::chore::root().join("crates");
    for file in garden::crds()? {
        file.settle(&crates, arguments.check)?;
    }
    let crds = crds::collected(&crates.join("schema/crds"))?;
    let mut files = vec![Generated { path: "schema/data/crds.json".to_owned(), bytes: crds }];
    if !arguments.crds {
        files.extend(of_server(&control_plane::folder(&arguments.control_plane)?)?);
    }
    for file in files {
        file.settle(&crates, arguments.check)?;
    }
    Ok(())
}

fn of_server(programs: &Path) -> Result<[Generated; 5]> {
    let server = server::Server::start(programs)?;
    let answers = answers::Answers::ask(&server)?;
    let started = started::objects(&server, &answers)?;
    drop(server);
    let bundle = bundle::Bundle::of(&answers)?;
    Ok([
        Generated { path: "apiserver/src/seed/post_start_hooks/objects.json".to_owned(), bytes: started },
        Generated { path: "schema/data/messages.gz".to_owned(), bytes: messages::table(&bundle.index)? },
        Generated {
            path: "apiserver/tests/vectors/protobuf.gz".to_owned(),
            bytes: messages::vectors(&bundle.index)?,
        },
        Generated { path: "schema/data/kinds.json".to_owned(), bytes: bundle.index },
        Generated { path: "schema/data/definitions.gz".to_owned(), bytes: bundle.definitions },
    ])
}

impl Generated {
    fn settle(&self, folder: &Path, check: bool) -> Result<()> {
        let path: PathBuf = folder.join(&self.path);
        if check {
            let found = fs::read(&path).with_context(|| format!("failed to read {}", path.display()))?;
            ensure!(found == self.bytes, "{} is stale: run cargo xtask kinds", path.display());
            return Ok(());
        }
        fs::write(&path, &self.bytes).with_context(|| format!("failed to write {}", path.display()))
    }
}
