//! `cargo xtask kinds`: generates data about kinds from a real kube-apiserver, Go's types, and the types in crates/api.

mod bundle;
mod crds;
mod garden;
mod messages;
mod releases;
mod server;
mod server_api;
mod startup;
mod trim;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::control_plane;

/// Which files to write, and whether to compare them instead.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail if a file differs from what would be written
    #[arg(long)]
    check: bool,
    /// Write only the data about the project's own CRDs, which needs no server
    #[arg(long)]
    crds: bool,
    /// Write only the data about older releases of Kubernetes, from their Go modules: 13 downloads of 30 MB
    #[arg(long, conflicts_with = "crds")]
    releases: bool,
    #[command(flatten)]
    control_plane: control_plane::Arguments,
}

/// A file in crates and its generated content.
struct Generated {
    path: String,
    bytes: Vec<u8>,
}

/// Writes or compares the files.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let crates = crate::chore::root().join("crates");
    if arguments.releases {
        let files = releases::generate(&crates)?;
        return files.iter().try_for_each(|file| file.write_or_check(&crates, arguments.check));
    }
    for file in garden::crds()? {
        file.write_or_check(&crates, arguments.check)?;
    }
    let crds = crds::to_json(&crates.join("schema/crds"))?;
    let mut files = vec![Generated { path: "schema/data/crds.json".to_owned(), bytes: crds }];
    if !arguments.crds {
        files.extend(generate_from_server(&control_plane::folder(&arguments.control_plane)?, &crates)?);
    }
    for file in files {
        file.write_or_check(&crates, arguments.check)?;
    }
    Ok(())
}

fn generate_from_server(programs: &Path, crates: &Path) -> Result<[Generated; 5]> {
    let server = server::Server::start(programs)?;
    let api = server_api::ServerApi::read(&server)?;
    let objects = startup::objects(&server, &api)?;
    drop(server);
    let bundle = bundle::Bundle::of(&api)?;
    let kinds = messages::kinds(&bundle.index, crates)?;
    Ok([
        Generated { path: "apiserver/src/seed/post_start_hooks/objects.json".to_owned(), bytes: objects },
        Generated { path: "schema/data/messages.gz".to_owned(), bytes: messages::table(&kinds)? },
        Generated {
            path: "apiserver/tests/vectors/protobuf.gz".to_owned(),
            bytes: messages::vectors(&kinds)?,
        },
        Generated { path: "schema/data/kinds.json".to_owned(), bytes: bundle.index },
        Generated { path: "schema/data/definitions.gz".to_owned(), bytes: bundle.definitions },
    ])
}

impl Generated {
    fn write_or_check(&self, folder: &Path, check: bool) -> Result<()> {
        let path: PathBuf = folder.join(&self.path);
        if check {
            let found = fs::read(&path).with_context(|| format!("failed to read {}", path.display()))?;
            ensure!(found == self.bytes, "{} is out of date: run `cargo xtask kinds`", path.display());
            return Ok(());
        }
        fs::write(&path, &self.bytes).with_context(|| format!("failed to write {}", path.display()))
    }
}
