//! The certificate of a server: read from a folder, replaced while the server runs.

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

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file is missing or unreadable.
    #[error("failed to read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        source: io::Error,
    },
    /// The certificate is no PEM, or there is none.
    #[error("failed to parse the certificate: {0}")]
    Certificate(String),
    /// The key is no PEM, or there is none.
    #[error("failed to parse the private key: no PEM block of a private key found")]
    NoKey,
    /// What is in the block is no key.
    #[error("failed to parse the private key: {0}")]
    Key(&'static str),
    /// The key cannot sign, or does not belong to the certificate.
    #[error("failed to use the private key: {0}")]
    Pair(#[source] rustls::Error),
}

/// A certificate and its key, shown at each handshake; replaced atomically.
#[derive(Debug)]
pub struct Certificates {
    current: ArcSwap<CertifiedKey>,
}

impl Certificates {
    /// A certificate chain and its key, both PEM; what else stands there is passed over, as Go does.
    ///
    /// # Errors
    /// When one cannot be parsed or they do not belong together.
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, CertificateError> {
        Ok(Self { current: ArcSwap::from_pointee(parse(certificate, key)?) })
    }

    /// Shows another certificate from the next handshake on.
    ///
    /// # Errors
    /// As [`Self::from_pem`]; the old certificate then stays.
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

/// `tls.crt` and `tls.key` of a folder, followed as they change.
#[derive(Debug)]
pub struct CertificateFolder {
    folder: PathBuf,
    certificates: Arc<Certificates>,
    fingerprint: AtomicU64,
    reads: AtomicU64,
    errors: AtomicU64,
}

impl CertificateFolder {
    /// Reads the pair for the first time.
    ///
    /// # Errors
    /// When a file cannot be read or parsed, or the two do not belong together.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, CertificateError> {
        let folder = folder.into();
        let pair = Pair::read(&folder)?;
        let certificates = Arc::new(Certificates::from_pem(&pair.certificate, &pair.key)?);
        Ok(Self {
            folder,
            certificates,
            fingerprint: AtomicU64::new(pair.fingerprint()),
            reads: AtomicU64::new(1),
            errors: AtomicU64::new(0),
        })
    }

    /// The certificate to show; follows the folder while [`Self::follow`] runs.
    #[must_use]
    pub fn certificates(&self) -> Arc<Certificates> {
        Arc::clone(&self.certificates)
    }

    /// How often a pair was read, and how often that failed: `certwatcher_read_certificate_total` and `…_errors_total`.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.reads.load(Ordering::Relaxed), self.errors.load(Ordering::Relaxed))
    }

    /// Looks at the files again and again, for ever. Contents are compared, so that it does not matter how a file
    /// was replaced (kubelet swaps a symlink to a folder).
    pub async fn follow(&self, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            self.refresh();
        }
    }

    /// Takes over a changed pair; true if there was one. A broken or half-written pair leaves the old one in place.
    pub fn refresh(&self) -> bool {
        let pair = match Pair::read(&self.folder) {
            Ok(pair) => pair,
            Err(error) => return self.failed(0, &error),
        };
        let fingerprint = pair.fingerprint();
        if fingerprint == self.fingerprint.load(Ordering::Relaxed) {
            return false;
        }
        if let Err(error) = self.certificates.replace(&pair.certificate, &pair.key) {
            return self.failed(fingerprint, &error);
        }
        self.fingerprint.store(fingerprint, Ordering::Relaxed);
        self.reads.fetch_add(1, Ordering::Relaxed);
        tracing::info!(folder = %self.folder.display(), "updated the TLS certificate");
        true
    }

    /// Counts and logs a failure once for each state of the files.
    fn failed(&self, fingerprint: u64, error: &CertificateError) -> bool {
        if self.fingerprint.swap(fingerprint, Ordering::Relaxed) != fingerprint {
            self.reads.fetch_add(1, Ordering::Relaxed);
            self.errors.fetch_add(1, Ordering::Relaxed);
            tracing::error!(folder = %self.folder.display(), %error, "kept the old TLS certificate");
        }
        false
    }
}

struct Pair {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Pair {
    /// Reads both files; again if the certificate changed while the key was read.
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
