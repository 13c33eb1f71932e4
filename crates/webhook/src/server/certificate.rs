//! The certificate of a server, read from a folder and replaced while the server runs.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use formats::x509::{Certificate, pem};
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// Reason a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file is missing or unreadable.
    #[error("failed to read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The certificate is missing or not PEM.
    #[error("failed to parse the certificate: {0}")]
    Certificate(String),
    /// The key is missing or not PEM.
    #[error("failed to parse the private key: no PEM block of a private key found")]
    NoKey,
    /// The content of the PEM block is not a key.
    #[error("failed to parse the private key: {0}")]
    Key(&'static str),
    /// The key cannot sign, or does not match the certificate.
    #[error("failed to use the private key: {0}")]
    Pair(#[source] rustls::Error),
}

/// A certificate and its key, which can be replaced atomically.
#[derive(Debug)]
pub struct Certificates {
    current: ArcSwap<CertifiedKey>,
}

impl Certificates {
    /// A certificate chain and its key, both PEM; anything else in the texts is ignored, as in Go.
    ///
    /// # Errors
    /// When one cannot be parsed, or they do not match.
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, CertificateError> {
        Ok(Self { current: ArcSwap::from_pointee(parse(certificate, key)?) })
    }

    /// Replaces the certificate for the next handshakes.
    ///
    /// # Errors
    /// As [`Self::from_pem`]; then the old certificate stays.
    pub fn replace(&self, certificate: &[u8], key: &[u8]) -> Result<(), CertificateError> {
        self.current.store(Arc::new(parse(certificate, key)?));
        Ok(())
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.load_full())
    }
}

/// `tls.crt` and `tls.key` of a folder, reloaded when they change.
#[derive(Debug)]
pub struct CertificateFolder {
    folder: PathBuf,
    certificates: Arc<Certificates>,
    fingerprint: AtomicU64,
    reads: AtomicU64,
    errors: AtomicU64,
}

impl CertificateFolder {
    /// Reads both files for the first time.
    ///
    /// # Errors
    /// When a file cannot be read or parsed, or the two do not match.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, CertificateError> {
        let folder = folder.into();
        let pair = CertificateFiles::read(&folder)?;
        let certificates = Arc::new(Certificates::from_pem(&pair.certificate, &pair.key)?);
        Ok(Self {
            folder,
            certificates,
            fingerprint: AtomicU64::new(pair.fingerprint()),
            reads: AtomicU64::new(1),
            errors: AtomicU64::new(0),
        })
    }

    /// The current certificate, which changes with the folder while [`Self::follow`] runs.
    #[must_use]
    pub fn certificates(&self) -> Arc<Certificates> {
        Arc::clone(&self.certificates)
    }

    /// Number of reads and of failed reads: `certwatcher_read_certificate_total` and `…_errors_total`.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.reads.load(Ordering::Relaxed), self.errors.load(Ordering::Relaxed))
    }

    /// Checks the files periodically, forever. Compares their contents, so that it does not matter how a file was replaced
    /// (kubelet swaps a symlink to a folder).
    pub async fn follow(&self, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            self.refresh();
        }
    }

    /// Loads the files if they changed; true if it did. A broken or half-written pair leaves the old one in place.
    pub fn refresh(&self) -> bool {
        let pair = match CertificateFiles::read(&self.folder) {
            Ok(pair) => pair,
            Err(error) => return self.report_failure(0, &error),
        };
        let fingerprint = pair.fingerprint();
        if fingerprint == self.fingerprint.load(Ordering::Relaxed) {
            return false;
        }
        if let Err(error) = self.certificates.replace(&pair.certificate, &pair.key) {
            return self.report_failure(fingerprint, &error);
        }
        self.fingerprint.store(fingerprint, Ordering::Relaxed);
        self.reads.fetch_add(1, Ordering::Relaxed);
        tracing::info!(folder = %self.folder.display(), "updated the TLS certificate");
        true
    }

    /// Counts and logs a failure, once per state of the files.
    fn report_failure(&self, fingerprint: u64, error: &CertificateError) -> bool {
        if self.fingerprint.swap(fingerprint, Ordering::Relaxed) != fingerprint {
            self.reads.fetch_add(1, Ordering::Relaxed);
            self.errors.fetch_add(1, Ordering::Relaxed);
            tracing::error!(folder = %self.folder.display(), %error, "kept the old TLS certificate");
        }
        false
    }
}

struct CertificateFiles {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl CertificateFiles {
    /// Reads both files, again if the certificate changed while the key was read.
    fn read(folder: &Path) -> Result<Self, CertificateError> {
        let mut certificate = read(&folder.join("tls.crt"))?;
        loop {
            let key = read(&folder.join("tls.key"))?;
            let again = read(&folder.join("tls.crt"))?;
            if again == certificate {
                return Ok(Self { certificate, key });
            }
            certificate = again;
        }
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.certificate, &self.key).hash(&mut hasher);
        hasher.finish()
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    fs::read(path).map_err(|source| CertificateError::Read { path: path.to_owned(), source })
}

fn parse(certificate: &[u8], key: &[u8]) -> Result<CertifiedKey, CertificateError> {
    let blocks = pem::blocks(certificate).filter(|block| block.label == "CERTIFICATE");
    let chain: Vec<_> = blocks.map(|block| CertificateDer::from(block.content)).collect();
    let Some(leaf) = chain.first() else {
        return Err(CertificateError::Certificate("no certificate found".to_owned()));
    };
    Certificate::from_der(leaf).map_err(|error| CertificateError::Certificate(error.to_string()))?;
    let is_key = |label: &str| label == "PRIVATE KEY" || label.ends_with(" PRIVATE KEY");
    let key = pem::blocks(key).find(|block| is_key(&block.label)).ok_or(CertificateError::NoKey)?;
    let key = PrivateKeyDer::try_from(key.content).map_err(CertificateError::Key)?;
    let pair = CertifiedKey::new(chain, any_supported_type(&key).map_err(CertificateError::Pair)?);
    pair.keys_match().map_err(CertificateError::Pair)?;
    Ok(pair)
}
