//! The files of a certificate for the address of a target.

use std::path::Path;

use super::file;
use crate::loopback;
use crate::target::TargetError;

/// Writes `tls.crt` and `tls.key` for this host and the loopback address into the folder; returns the PEM of the authority.
pub(super) fn write(folder: &Path, host: &str) -> Result<Vec<u8>, TargetError> {
    let path = folder.display().to_string();
    std::fs::create_dir_all(folder).map_err(|source| file("create", &path, source))?;
    let made = loopback::certificate(host)
        .map_err(|error| TargetError::Certificate { reason: error.to_string() })?;
    for (name, content) in
        [("tls.crt", &made.certificate), ("tls.key", &made.key), ("ca.crt", &made.authority)]
    {
        let path = folder.join(name);
        std::fs::write(&path, content)
            .map_err(|source| file("write", &path.display().to_string(), source))?;
    }
    Ok(made.authority.into_bytes())
}
