//! A bundle in a file that others replace, such as the one that a pod is given.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Authorities, NoAuthority};

/// So long a bundle is trusted before its file is looked at again; a handshake then reads it.
const FRESH: Duration = Duration::from_mins(1);

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The file cannot be read.
    #[error("failed to read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        source: io::Error,
    },
    /// It holds no certificate.
    #[error("failed to trust {}: {source}", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: NoAuthority,
    },
}

/// The authorities of a file.
#[derive(Debug)]
pub(super) struct Followed {
    path: PathBuf,
    current: Mutex<(Arc<Authorities>, Instant)>,
}

impl Followed {
    pub(super) fn open(path: PathBuf) -> Result<Self, FollowError> {
        let current = Mutex::new((Arc::new(read(&path)?), Instant::now()));
        Ok(Self { path, current })
    }

    /// What the file held a minute ago at most; what it held before where it holds nothing now.
    pub(super) fn current(&self) -> Arc<Authorities> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.1.elapsed() >= FRESH {
            current.1 = Instant::now();
            match read(&self.path) {
                Ok(authorities) => current.0 = Arc::new(authorities),
                Err(error) => tracing::warn!(%error, "kept the old authorities"),
            }
        }
        Arc::clone(&current.0)
    }
}

fn read(path: &Path) -> Result<Authorities, FollowError> {
    let failed = |source| FollowError::Read { path: path.to_owned(), source };
    let pem = std::fs::read(path).map_err(failed)?;
    Authorities::from_pem(&pem).map_err(|source| FollowError::Empty { path: path.to_owned(), source })
}
