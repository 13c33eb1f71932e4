//! Where the program of a target runs, on this machine or in a container, and what that makes of its files, addresses and command
//! line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::container::{Container, Image};
use super::placeholders::{Files, Kubeconfigs};
use crate::target::{Facts, TargetError};

/// Where a program runs.
pub(super) enum ProgramLocation {
    /// On this machine, with its files in this folder.
    ThisMachine(PathBuf),
    /// In a container.
    Container(Container),
}

/// What is run, as its target file says it, with placeholders filled in.
pub(super) struct Program {
    /// Program and arguments; of an image, what takes the place of its entrypoint.
    pub(super) command: Vec<String>,
    /// What the entrypoint of an image is given.
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
}

/// A command line of this machine.
pub(super) struct CommandLine {
    pub(super) words: Vec<String>,
    /// Beside the inherited environment.
    pub(super) env: BTreeMap<String, String>,
    /// What errors call it.
    pub(super) name: String,
    /// Whether it ends, in order, when its standard input does; who does not is killed.
    pub(super) ends_with_stdin: bool,
}

impl ProgramLocation {
    /// A place for one start, whose files lie in a temporary folder.
    pub(super) async fn of(image: Option<&Image>, folder: &Path) -> Result<Self, TargetError> {
        Ok(match image {
            None => Self::ThisMachine(folder.to_owned()),
            Some(image) => Self::Container(image.container(folder).await?),
        })
    }

    /// Where its files are.
    pub(super) fn files(&self) -> Files<'_> {
        match self {
            Self::ThisMachine(folder) => Files { here: folder, seen: folder },
            Self::Container(container) => Files { here: container.files(), seen: Container::inside() },
        }
    }

    /// The host that its ports are on.
    pub(super) fn host(&self) -> &str {
        match self {
            Self::ThisMachine(_) => "127.0.0.1",
            Self::Container(container) => container.host(),
        }
    }

    /// The address of something that its program serves, as it is reached from here.
    pub(super) fn address_from_here(&self, address: &str) -> String {
        match self {
            Self::ThisMachine(_) => address.to_owned(),
            Self::Container(container) => container.address_from_here(address),
        }
    }

    /// Whether connections may be taken before its program takes them.
    pub(super) fn is_proxied(&self) -> bool {
        match self {
            Self::ThisMachine(_) => false,
            Self::Container(container) => container.is_proxied(),
        }
    }

    /// Kubeconfigs as its program can use them.
    pub(super) async fn kubeconfigs(
        &mut self,
        source: Option<&Facts>,
        target: Option<&Facts>,
    ) -> Result<Kubeconfigs, TargetError> {
        let mut kubeconfigs = Kubeconfigs::default();
        for (name, facts, slot) in [
            ("source.kubeconfig", source, &mut kubeconfigs.source),
            ("target.kubeconfig", target, &mut kubeconfigs.target),
        ] {
            let Some(path) = facts.and_then(|facts| facts.kubeconfig.as_deref()) else { continue };
            *slot = match self {
                Self::ThisMachine(_) => Some(path.display().to_string()),
                Self::Container(container) => Some(container.write_kubeconfig(name, path).await?),
            };
        }
        Ok(kubeconfigs)
    }

    /// The command line that runs a program there until it ends; it is asked at `addresses`.
    pub(super) fn line(&self, program: Program, addresses: &[&str]) -> Result<CommandLine, TargetError> {
        Ok(match self {
            Self::ThisMachine(_) => {
                let name = program.command.first().cloned().unwrap_or_default();
                CommandLine { words: program.command, env: program.env, name, ends_with_stdin: false }
            }
            Self::Container(container) => CommandLine {
                words: container.command(&program, addresses)?,
                env: BTreeMap::new(),
                name: container.image().to_owned(),
                ends_with_stdin: true,
            },
        })
    }

    /// Why there is no container, where the engine made none.
    pub(super) fn creation_error(&self) -> Option<TargetError> {
        match self {
            Self::ThisMachine(_) => None,
            Self::Container(container) => container.creation_error(),
        }
    }

    /// What may be wrong where nothing answers.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::ThisMachine(_) => "",
            Self::Container(container) => container.hint(),
        }
    }
}
