//! The file of the flag `--admission-control-config-file`: an AdmissionConfiguration, which has the configuration of each
//! plugin, or names its file.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Configuration, shoot_dns_rewriting, shoot_toleration_restriction};

const VERSIONS: [&str; 2] = ["apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1"];
/// The plugins that have a configuration.
pub(super) const CONFIGURED: [&str; 2] = ["ShootTolerationRestriction", "ShootDNSRewriting"];
const KIND: &str = "AdmissionConfiguration";

/// Why the configuration of plugins cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationFileError {
    /// A file cannot be read.
    #[error("failed to read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is no YAML.
    #[error("failed to read {path}: {message}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its line.
        message: String,
    },
    /// A file is of another kind.
    #[error("{path}: want kind {KIND} of {}, got {kind:?} of {version:?}", VERSIONS.join(" or "))]
    Kind {
        /// The file.
        path: PathBuf,
        /// Its `apiVersion`.
        version: String,
        /// Its `kind`.
        kind: String,
    },
    /// The configuration of a plugin is wrong.
    #[error("{path}: configuration of the admission plugin {plugin}: {message}")]
    Plugin {
        /// The file.
        path: PathBuf,
        /// The plugin.
        plugin: &'static str,
        /// What is wrong.
        message: String,
    },
}

/// Reads the configuration of the plugins that have one; that of others is ignored, as in the original. A plugin's `path` is
/// relative to the file.
///
/// # Errors
/// If a file cannot be read, or if a configuration is of another kind or wrong.
pub fn read(path: &Path) -> Result<Configuration, ConfigurationFileError> {
    let file = document(path)?;
    let text = |field: &str| file[field].as_str().unwrap_or_default().to_owned();
    let (version, kind) = (text("apiVersion"), text("kind"));
    if !VERSIONS.contains(&version.as_str()) || kind != KIND {
        return Err(ConfigurationFileError::Kind { path: path.to_owned(), version, kind });
    }
    let mut configuration = Configuration::default();
    for plugin in CONFIGURED {
        if let Some((path, document)) = of_plugin(path, &file, plugin)? {
            configure(&mut configuration, plugin, &document).map_err(wrong(path, plugin))?;
        }
    }
    Ok(configuration)
}

/// Reads the configuration of one of the plugins that have one.
pub(super) fn configure(
    configuration: &mut Configuration,
    plugin: &str,
    document: &Value,
) -> Result<(), String> {
    if plugin == CONFIGURED[0] {
        let read = shoot_toleration_restriction::configure(document)?;
        (configuration.default_tolerations, configuration.toleration_whitelist) = read;
    } else {
        configuration.common_suffixes = shoot_dns_rewriting::configure(document)?;
    }
    Ok(())
}

/// The configuration of a plugin, and the file that has it.
fn of_plugin(
    path: &Path,
    file: &Value,
    plugin: &str,
) -> Result<Option<(PathBuf, Value)>, ConfigurationFileError> {
    let mut entries = file["plugins"].as_array().into_iter().flatten();
    let Some(entry) = entries.find(|entry| entry["name"] == plugin) else { return Ok(None) };
    match entry["path"].as_str().filter(|own| !own.is_empty()) {
        Some(own) => {
            let own = path.parent().unwrap_or(Path::new("")).join(own);
            document(&own).map(|document| Some((own, document)))
        }
        None if entry["configuration"].is_null() => Ok(None),
        None => Ok(Some((path.to_owned(), entry["configuration"].clone()))),
    }
}

fn document(path: &Path) -> Result<Value, ConfigurationFileError> {
    let unreadable = |source| ConfigurationFileError::Unreadable { path: path.to_owned(), source };
    let text = std::fs::read(path).map_err(unreadable)?;
    formats::yaml::first_document(&text).map_err(|error| ConfigurationFileError::Malformed {
        path: path.to_owned(),
        message: error.to_string(),
    })
}

fn wrong(path: PathBuf, plugin: &'static str) -> impl FnOnce(String) -> ConfigurationFileError {
    move |message| ConfigurationFileError::Plugin { path, plugin, message }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TOLERATIONS: &str = "{apiVersion: shoottolerationrestriction.admission.gardener.cloud/v1alpha1, kind: Configuration, \
                               defaults: [{key: a}], whitelist: [{key: b, value: c}]}";
    const SUFFIXES: &str = "{apiVersion: shootdnsrewriting.admission.gardener.cloud/v1alpha1, kind: Configuration, commonSuffixes: [a.b]}";

    fn read_text(text: &str) -> Result<Configuration, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("own.yaml"), SUFFIXES).unwrap();
        let path = folder.path().join("admission.yaml");
        std::fs::write(&path, text).unwrap();
        let shown = folder.path().display().to_string();
        read(&path).map_err(|error| error.to_string().replace(&shown, "DIR"))
    }

    #[test]
    fn plugins_are_configured_in_the_file_or_in_their_own() {
        let text = format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n\
             - {{name: ShootDNSRewriting, path: own.yaml}}\n- {{name: Other, configuration: {{}}}}\n\
             - {{name: ShootTolerationRestriction, configuration: {TOLERATIONS}}}\n"
        );
        let want = Configuration {
            default_tolerations: vec![json!({"key": "a"})],
            toleration_whitelist: vec![json!({"key": "b", "value": "c"})],
            common_suffixes: vec!["a.b".to_owned()],
        };
        assert_eq!(read_text(&text), Ok(want));
        let empty = "{apiVersion: apiserver.k8s.io/v1alpha1, kind: AdmissionConfiguration, \
                     plugins: [{name: ShootDNSRewriting}]}";
        assert_eq!(read_text(empty), Ok(Configuration::default()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_file() {
        let plugin = |entry: &str| {
            read_text(&format!(
                "{{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration, plugins: [{entry}]}}"
            ))
            .unwrap_err()
        };
        assert_eq!(
            read_text("{kind: Pod}").unwrap_err(),
            "DIR/admission.yaml: want kind AdmissionConfiguration of apiserver.config.k8s.io/v1 or \
             apiserver.k8s.io/v1alpha1, got \"Pod\" of \"\""
        );
        let malformed = read_text("a: [").unwrap_err();
        assert!(malformed.starts_with("failed to read DIR/admission.yaml: "), "{malformed}");
        let missing = plugin("{name: ShootDNSRewriting, path: none.yaml}");
        assert!(missing.starts_with("failed to read DIR/none.yaml: No such file"), "{missing}");
        assert_eq!(
            plugin("{name: ShootDNSRewriting, configuration: {kind: Other}}"),
            "DIR/admission.yaml: configuration of the admission plugin ShootDNSRewriting: no kind \"Other\" is registered for \
             version \"\""
        );
    }
}
