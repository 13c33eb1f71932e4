//! The programs that envtest starts.

use std::ffi::OsStr;
use std::path::Path;

/// A program in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// Answers health checks and stores nothing.
    Etcd,
    /// Serves the embedded API server.
    KubeApiserver,
    /// Fails, because no kubectl was found.
    Kubectl,
}

impl Program {
    /// All programs.
    pub(super) const ALL: [Self; 3] = [Self::Etcd, Self::KubeApiserver, Self::Kubectl];

    /// The file name that envtest starts.
    pub(super) fn file_name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::Kubectl => "kubectl",
        }
    }

    /// The program of a command such as `/assets/etcd`.
    pub(super) fn named(command: &OsStr) -> Option<Self> {
        let name = Path::new(command).file_name()?;
        Self::ALL.into_iter().find(|program| name == program.file_name())
    }
}
