//! Where the program of a target runs: on this machine or in a container, with its files, addresses and command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::container::{Container, Image};
use super::placeholders::{Files, Kubeconfigs};
use super::program::Program;
use crate::target::{Facts, TargetError};

/// Where a program runs.
pub(super) enum ProgramLocation {
    /// On this machine, with its files in this folder.
    ThisMachine(PathBuf),
    /// In a container.
    Container(Container),
}

/// A command line of this machine.
pub(super) struct CommandLine {
    pub(super) words: Vec<String>,
    /// In addition to the inherited environment.
    pub(super) env: BTreeMap<String, String>,
    /// Its name in errors.
    pub(super) name: String,
    /// Whether it ends when its standard input is closed; otherwise it is killed.
    pub(super) ends_with_stdin: bool,
}

impl ProgramLocation {
    /// A location for one start, with its files in a temporary folder.
    pub(super) async fn of(image: Option<&Image>, folder: &Path) -> Result<Self, TargetError> {
        Ok(match image {
            None => Self::ThisMachine(folder.to_owned()),
            Some(image) => Self::Container(image.container(folder).await?),
        })
    }

    /// The folders of its files.
    pub(super) fn files(&self) -> Files<'_> {
        match self {
            Self::ThisMachine(folder) => Files { here: folder, seen: folder },
            Self::Container(container) => Files { here: container.files(), seen: Container::folder_inside() },
        }
    }

    /// The host of its ports.
    pub(super) fn host(&self) -> &str {
        match self {
            Self::ThisMachine(_) => "127.0.0.1",
            Self::Container(container) => container.host(),
        }
    }

    /// The address at which this machine reaches a server of the program.
    pub(super) fn address_from_here(&self, address: &str) -> String {
        match self {
            Self::ThisMachine(_) => address.to_owned(),
            Self::Container(container) => container.address_from_here(address),
        }
    }

    /// Whether connections may be accepted before its program accepts them.
    pub(super) fn is_proxied(&self) -> bool {
        match self {
            Self::ThisMachine(_) => false,
            Self::Container(container) => container.is_proxied(),
        }
    }

    /// Kubeconfigs that the program can use.
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

    /// The command line that runs a program there until it ends; it serves `addresses`.
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

    /// Why the engine created no container, if so.
    pub(super) fn creation_error(&self) -> Option<TargetError> {
        match self {
            Self::ThisMachine(_) => None,
            Self::Container(container) => container.creation_error(),
        }
    }

    /// A possible reason if nothing answers.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::ThisMachine(_) => "",
            Self::Container(container) => container.hint(),
        }
    }
}
