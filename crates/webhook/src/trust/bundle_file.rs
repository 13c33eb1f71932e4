//! A bundle in a file that changes, such as the CA bundle in a pod.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Authorities, NoAuthority};

/// Age at which a handshake reads the file again.
const MAX_AGE: Duration = Duration::from_mins(1);

/// Reason a bundle cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum BundleFileError {
    /// The file cannot be read.
    #[error("failed to read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file has no certificate.
    #[error("failed to trust {}: {source}", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// The error.
        source: NoAuthority,
    },
}

/// The authorities of a file, reloaded when they are a minute old.
#[derive(Debug)]
pub(super) struct BundleFile {
    path: PathBuf,
    current: Mutex<(Arc<Authorities>, Instant)>,
}

impl BundleFile {
    pub(super) fn open(path: PathBuf) -> Result<Self, BundleFileError> {
        let current = Mutex::new((Arc::new(read(&path)?), Instant::now()));
        Ok(Self { path, current })
    }

    /// The authorities of the file, at most a minute old; the previous ones if the file is not readable now.
    pub(super) fn current(&self) -> Arc<Authorities> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.1.elapsed() >= MAX_AGE {
            current.1 = Instant::now();
            match read(&self.path) {
                Ok(authorities) => current.0 = Arc::new(authorities),
                Err(error) => tracing::warn!(%error, "kept the old authorities"),
            }
        }
        Arc::clone(&current.0)
    }
}

fn read(path: &Path) -> Result<Authorities, BundleFileError> {
    let failed = |source| BundleFileError::Read { path: path.to_owned(), source };
    let pem = std::fs::read(path).map_err(failed)?;
    Authorities::from_pem(&pem).map_err(|source| BundleFileError::Empty { path: path.to_owned(), source })
}
