//! Arguments and volumes of an API server's container. Their order is the original's: another one would roll the Pods of a
//! garden that is taken over.

use std::collections::BTreeMap;
use std::fmt::Display;

use formats::duration::GoDuration;
use serde_json::{Map, Value, json};

/// Arguments and volumes of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerParts {
    /// The arguments.
    pub arguments: Vec<String>,
    /// The volumes, mounted in the same order.
    pub volumes: Vec<MountedVolume>,
}

/// A volume and where it is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountedVolume {
    /// Its name.
    pub name: String,
    /// Where its files come from.
    pub source: VolumeFiles,
    /// The path that it is mounted at.
    pub path: String,
    /// Whether the mount says that it is only read.
    pub read_only: bool,
}

/// Where the files of a volume come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeFiles {
    /// A Secret of this name.
    Secret(String),
    /// A ConfigMap of this name.
    ConfigMap(String),
}

impl ServerParts {
    /// Adds an argument.
    pub fn argument(&mut self, argument: impl Into<String>) {
        self.arguments.push(argument.into());
    }

    /// Adds `--flag=value`.
    pub fn flag(&mut self, flag: &str, value: impl Display) {
        self.arguments.push(format!("--{flag}={value}"));
    }

    /// Adds `--flag=value` if there is a value.
    pub fn optional_flag<T: Display>(&mut self, flag: &str, value: Option<T>) {
        if let Some(value) = value {
            self.flag(flag, value);
        }
    }

    /// Adds a Secret's files.
    pub fn secret(&mut self, name: &str, secret: &str, path: &str) {
        self.mount(name, VolumeFiles::Secret(secret.to_owned()), path, false);
    }

    /// Adds a Secret's files, and says that they are only read.
    pub fn read_only_secret(&mut self, name: &str, secret: &str, path: &str) {
        self.mount(name, VolumeFiles::Secret(secret.to_owned()), path, true);
    }

    /// Adds a ConfigMap's files.
    pub fn config_map(&mut self, name: &str, config_map: &str, path: &str) {
        self.mount(name, VolumeFiles::ConfigMap(config_map.to_owned()), path, false);
    }

    /// The volumes of the Pod.
    #[must_use]
    pub fn pod_volumes(&self) -> Vec<Value> {
        self.volumes.iter().map(MountedVolume::volume).collect()
    }

    /// The mounts of the container.
    #[must_use]
    pub fn volume_mounts(&self) -> Vec<Value> {
        self.volumes.iter().map(MountedVolume::mount).collect()
    }

    fn mount(&mut self, name: &str, source: VolumeFiles, path: &str, read_only: bool) {
        let (name, path) = (name.to_owned(), path.to_owned());
        self.volumes.push(MountedVolume { name, source, path, read_only });
    }
}

impl MountedVolume {
    fn volume(&self) -> Value {
        match &self.source {
            VolumeFiles::Secret(secret) => json!({ "name": self.name, "secret": { "secretName": secret } }),
            VolumeFiles::ConfigMap(name) => json!({ "name": self.name, "configMap": { "name": name } }),
        }
    }

    fn mount(&self) -> Value {
        let mut mount = Map::new();
        mount.insert("name".to_owned(), json!(self.name));
        mount.insert("mountPath".to_owned(), json!(self.path));
        if self.read_only {
            mount.insert("readOnly".to_owned(), json!(true));
        }
        Value::Object(mount)
    }
}

/// `a=true,b=false`, by key.
#[must_use]
pub fn switches(switches: &BTreeMap<String, bool>) -> String {
    let each: Vec<String> = switches.iter().map(|(name, on)| format!("{name}={on}")).collect();
    each.join(",")
}

/// A duration as Go prints it; one that cannot be read, which admission refuses, stays as it is.
#[must_use]
pub fn go_duration(written: &str) -> String {
    GoDuration::parse(written).map_or_else(|_| written.to_owned(), |duration| duration.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_are_mounted_in_their_order() {
        let mut parts = ServerParts::default();
        parts.secret("a", "a-12345678", "/a");
        parts.config_map("b", "b-12345678", "/b");
        parts.read_only_secret("c", "c", "/c");
        assert_eq!(
            parts.pod_volumes(),
            [
                json!({ "name": "a", "secret": { "secretName": "a-12345678" } }),
                json!({ "name": "b", "configMap": { "name": "b-12345678" } }),
                json!({ "name": "c", "secret": { "secretName": "c" } }),
            ]
        );
        assert_eq!(
            parts.volume_mounts(),
            [
                json!({ "name": "a", "mountPath": "/a" }),
                json!({ "name": "b", "mountPath": "/b" }),
                json!({ "name": "c", "mountPath": "/c", "readOnly": true }),
            ]
        );
    }

    #[test]
    fn switches_and_durations_are_printed_as_go_does() {
        let map = BTreeMap::from([("b".to_owned(), false), ("a".to_owned(), true)]);
        assert_eq!(switches(&map), "a=true,b=false");
        assert_eq!(["1h", "90s", "0", "soon"].map(go_duration), ["1h0m0s", "1m30s", "0s", "soon"]);
    }
}
