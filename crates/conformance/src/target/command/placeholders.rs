//! `<port>`, `<certDir>` and the others, replaced once per start.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use substrate::ports::free_ports;

use super::file;
use crate::target::TargetError;

/// The values of placeholders.
pub(super) struct Placeholders {
    values: BTreeMap<&'static str, String>,
    /// Path of the configuration file.
    config: PathBuf,
}

/// The files of a start.
#[derive(Clone, Copy)]
pub(super) struct Files<'a> {
    /// Their folder on this machine.
    pub(super) here: &'a Path,
    /// Their folder as the target sees it.
    pub(super) seen: &'a Path,
}

/// Kubeconfigs, as the target sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kubeconfigs {
    /// Of the cluster with facts.
    pub(super) source: Option<String>,
    /// Of the target cluster, if it is another one.
    pub(super) target: Option<String>,
}

const NAMES: [&str; 7] =
    ["port", "healthPort", "metricsPort", "certDir", "config", "sourceKubeconfig", "targetKubeconfig"];

impl Placeholders {
    /// Free ports, files and kubeconfigs.
    pub(super) fn new(files: Files<'_>, kubeconfigs: Kubeconfigs) -> Result<Self, TargetError> {
        let ports = free_ports(3).map_err(|source| file("bind", "a free port", source))?;
        let path = |name: &str| files.seen.join(name).display().to_string();
        let mut values = BTreeMap::from([
            ("port", ports[0].to_string()),
            ("healthPort", ports[1].to_string()),
            ("metricsPort", ports[2].to_string()),
            ("certDir", path("certs")),
            ("config", path("config.yaml")),
        ]);
        if let Some(kubeconfig) = kubeconfigs.source {
            values.insert("sourceKubeconfig", kubeconfig.clone());
            values.insert("targetKubeconfig", kubeconfig);
        }
        if let Some(kubeconfig) = kubeconfigs.target {
            values.insert("targetKubeconfig", kubeconfig);
        }
        Ok(Self { values, config: files.here.join("config.yaml") })
    }

    /// Writes the configuration file.
    pub(super) fn write_config(&self, content: &str) -> Result<(), TargetError> {
        std::fs::write(&self.config, content)
            .map_err(|source| file("write", &self.config.display().to_string(), source))
    }

    /// Fills in a text.
    pub(super) fn fill(&self, text: &str) -> Result<String, TargetError> {
        let mut filled = text.to_owned();
        for name in NAMES {
            let placeholder = format!("<{name}>");
            if !filled.contains(&placeholder) {
                continue;
            }
            let value = self.values.get(name).ok_or_else(|| TargetError::Description {
                what: text.to_owned(),
                reason: format!("{placeholder} needs a cluster for facts (--kubeconfig, or an embedded one)"),
            })?;
            filled = filled.replace(&placeholder, value);
        }
        Ok(filled)
    }

    /// Fills in several texts.
    pub(super) fn fill_all(&self, texts: &[String]) -> Result<Vec<String>, TargetError> {
        texts.iter().map(|text| self.fill(text)).collect()
    }

    /// Fills in every text of a value; a text that is only a port becomes a number.
    pub(super) fn fill_value(&self, value: &Value) -> Result<Value, TargetError> {
        Ok(match value {
            Value::String(text) => {
                let filled = self.fill(text)?;
                let is_port =
                    text.ends_with("ort>") && text.starts_with('<') && text.matches('<').count() == 1;
                match filled.parse::<u16>() {
                    Ok(port) if is_port => Value::from(port),
                    _ => Value::String(filled),
                }
            }
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.fill_value(item)).collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let fill = |(name, value): (&String, &Value)| Ok((name.clone(), self.fill_value(value)?));
                Value::Object(fields.iter().map(fill).collect::<Result<_, TargetError>>()?)
            }
            other => other.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn placeholders_are_filled_and_ports_are_numbers() {
        let files = Files { here: Path::new("/tmp/here"), seen: Path::new("/tmp/x") };
        let placeholders = Placeholders::new(files, Kubeconfigs::default()).unwrap();
        let port: u16 = placeholders.values["port"].parse().unwrap();
        let value = json!({"port": "<port>", "dir": "<certDir>", "url": "https://h:<port>/p", "n": 3, "l": ["<healthPort>"]});
        let health: u16 = placeholders.values["healthPort"].parse().unwrap();
        let want = json!({"port": port, "dir": "/tmp/x/certs", "url": format!("https://h:{port}/p"), "n": 3, "l": [health]});
        assert_eq!(placeholders.fill_value(&value).unwrap(), want);
        let error = placeholders.fill("<sourceKubeconfig>").unwrap_err().to_string();
        assert_eq!(
            error,
            "failed to read target <sourceKubeconfig>: <sourceKubeconfig> needs a cluster for facts (--kubeconfig, or an embedded one)"
        );
    }
}
