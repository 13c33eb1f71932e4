//! Arguments of `env`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::EnvtestArguments;

#[derive(Debug, Subcommand)]
pub(crate) enum EnvCommand {
    /// Starts a substrate and prints the path of its kubeconfig
    Up(EnvUpArguments),
    /// Stops it
    Down {
        /// Its name
        #[arg(long, default_value = "default")]
        name: String,
    },
    /// Says what each substrate needs and what is missing here
    Doctor,
}

/// What can be started; direct, which can not, is refused in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Startable {
    /// The in-process API server
    Embedded,
    /// A real kube-apiserver and etcd on loopback
    Envtest,
    /// A whole cluster in containers
    Kind,
    /// Needs nothing started
    #[value(hide = true)]
    Direct,
}

/// A component of ours that can be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComponentName {
    /// gardener-resource-manager for the cluster it runs in, from the image that `make images` builds
    ResourceManager,
}

#[derive(Debug, Args)]
pub(crate) struct EnvUpArguments {
    /// What is started
    #[arg(long, value_enum, default_value_t = Startable::Embedded)]
    pub(crate) substrate: Startable,
    /// A name, for several at once
    #[arg(long, default_value = "default")]
    pub(crate) name: String,
    /// Stays in the foreground until interrupted
    #[arg(long)]
    pub(crate) foreground: bool,
    #[command(flatten)]
    pub(crate) envtest: EnvtestArguments,
    #[command(flatten)]
    pub(crate) kind: KindArguments,
}

/// What the substrate kind is made of.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Kind")]
pub(crate) struct KindArguments {
    /// Nodes, each in a zone of its own: 1 or 3
    #[arg(long, value_name = "N", value_parser = ["1", "3"])]
    pub(crate) zones: Option<String>,
    /// Which of our components run in it
    #[arg(long, value_enum, value_name = "COMPONENT")]
    pub(crate) install: Vec<ComponentName>,
    /// Where nodes' logs are collected when it does not get ready [default: reports/kind]
    #[arg(long, value_name = "DIR")]
    pub(crate) logs: Option<PathBuf>,
}

impl Startable {
    /// As it is typed.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Envtest => "envtest",
            Self::Kind => "kind",
            Self::Direct => "direct",
        }
    }
}

impl KindArguments {
    /// Whether anything was said.
    pub(crate) fn is_said(&self) -> bool {
        self.zones.is_some() || self.logs.is_some() || !self.install.is_empty()
    }
}
