//! The version of Kubernetes that a folder's kube-apiserver has: a file in the folder, unless it is the default.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use schema::KubernetesVersion;

use crate::terminal::Failure;

/// The name of the file.
const FILE: &str = "kubernetes-version";

/// Writes the version; removes that of an earlier call if there is none.
pub(super) fn write(folder: &Path, version: Option<KubernetesVersion>) -> Result<(), Failure> {
    let path = folder.join(FILE);
    let written = match version {
        Some(version) => fs::write(&path, format!("{version}\n")),
        None => match fs::remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        },
    };
    written.map_err(|error| Failure::environment(format!("failed to write {}: {error}", path.display())))
}

/// The version of the folder of a program that was started as `command`: the default without a file.
///
/// # Errors
/// When the file cannot be read or contains something else.
pub(super) fn of_program(command: &Path) -> Result<KubernetesVersion, String> {
    let Some(folder) = command.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(KubernetesVersion::DEFAULT);
    };
    let path = folder.join(FILE);
    match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse().map_err(|error| format!("{}: {error}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(KubernetesVersion::DEFAULT),
        Err(error) => Err(format!("failed to read {}: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_the_version_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("kube-apiserver");
        let found = || of_program(&program);
        assert_eq!(found(), Ok(KubernetesVersion::DEFAULT));
        write(folder.path(), Some("1.28.4".parse().unwrap())).unwrap();
        assert_eq!(found(), Ok("1.28.4".parse().unwrap()));
        write(folder.path(), None).unwrap();
        write(folder.path(), None).unwrap();
        assert_eq!(found(), Ok(KubernetesVersion::DEFAULT));
        fs::write(folder.path().join(FILE), "new").unwrap();
        assert!(
            found().unwrap_err().ends_with(
                "kubernetes-version: \"new\" is not a version of Kubernetes: write 1.28 or 1.28.4"
            )
        );
        assert_eq!(of_program(Path::new("kube-apiserver")), Ok(KubernetesVersion::DEFAULT));
    }
}
