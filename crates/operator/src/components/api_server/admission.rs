//! Admission plugins of an API server: which are enabled, and their files.

use std::collections::BTreeMap;

use api::garden::shoot::api_server::AdmissionPlugin;
use formats::json::html_safe;
use secrets::SecretData;
use serde_json::{Value, json};

use super::document;
use super::parts::ServerParts;
use crate::components::error::RenderError;
use crate::components::values::ReferencedObjects;

/// Key of the file that lists the others.
const CONFIGURATION_KEY: &str = "admission-configuration.yaml";
const CONFIGURATION_FOLDER: &str = "/etc/kubernetes/admission";
const KUBECONFIG_FOLDER: &str = "/etc/kubernetes/admission-kubeconfigs";
const WEBHOOK_PLUGINS: [&str; 2] = ["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook"];
const IMAGE_POLICY_PLUGIN: &str = "ImagePolicyWebhook";
/// Versions and kinds of a configuration of the plugins for webhooks; the first is the default.
const WEBHOOK_KINDS: [(&str, &str); 2] = [
    ("apiserver.config.k8s.io/v1", "WebhookAdmissionConfiguration"),
    ("apiserver.config.k8s.io/v1alpha1", "WebhookAdmission"),
];

/// The admission plugins of an API server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdmissionSetup {
    /// Those that are enabled, in order.
    pub enabled: Vec<EnabledPlugin>,
    /// Names of those that are disabled, in order.
    pub disabled: Vec<String>,
}

/// A plugin that is enabled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnabledPlugin {
    /// Its name.
    pub name: String,
    /// Its configuration.
    pub config: Option<PluginConfig>,
    /// The kubeconfig that it uses.
    pub kubeconfig: Option<Vec<u8>>,
}

/// The configuration of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginConfig {
    /// As a Garden contains it.
    Given(Value),
    /// A file that is ready.
    File(String),
}

/// The enabled ones of an API server with default plugins: a configured plugin takes the place of the default of its name, others
/// follow. OPC-093.
#[must_use]
pub fn enabled(defaults: &[&str], configured: &[AdmissionPlugin]) -> Vec<AdmissionPlugin> {
    let default = |name: &&str| AdmissionPlugin { name: (*name).to_owned(), ..AdmissionPlugin::default() };
    let mut plugins: Vec<AdmissionPlugin> = defaults.iter().map(default).collect();
    for plugin in configured {
        match plugins.iter_mut().find(|known| known.name == plugin.name) {
            Some(known) => *known = plugin.clone(),
            None => plugins.push(plugin.clone()),
        }
    }
    plugins.retain(|plugin| plugin.disabled != Some(true));
    plugins
}

/// Names of the plugins that a Garden disables. OPC-093.
#[must_use]
pub fn disabled(configured: &[AdmissionPlugin]) -> Vec<String> {
    let disabled = configured.iter().filter(|plugin| plugin.disabled == Some(true));
    disabled.map(|plugin| plugin.name.clone()).collect()
}

/// Plugins with their configurations and the kubeconfigs that they use. OPC-140.
///
/// # Errors
/// If a kubeconfig is not there.
pub fn complete(
    plugins: &[AdmissionPlugin],
    referenced: &ReferencedObjects,
) -> Result<Vec<EnabledPlugin>, RenderError> {
    let complete = plugins.iter().map(|plugin| {
        let kubeconfig = match &plugin.kubeconfig_secret_name {
            None => None,
            Some(name) => Some(referenced.kubeconfig(name, "admission plugin")?.to_owned()),
        };
        let config = plugin.config.clone().map(PluginConfig::Given);
        Ok(EnabledPlugin { name: plugin.name.clone(), config, kubeconfig })
    });
    complete.collect()
}

impl AdmissionSetup {
    /// The data of the ConfigMap: the configuration of each plugin that has one, and a file that lists them.
    ///
    /// # Errors
    /// If the configuration of a plugin for webhooks is none.
    pub fn configuration_data(&self) -> Result<BTreeMap<String, String>, RenderError> {
        let mut data = BTreeMap::new();
        let mut listed = Vec::new();
        for plugin in &self.enabled {
            let Some(file) = plugin.file()? else { continue };
            let name = format!("{}.yaml", plugin.name.to_lowercase());
            let path = format!("{CONFIGURATION_FOLDER}/{name}");
            listed.push(json!({ "name": plugin.name, "path": path, "configuration": null }));
            data.insert(name, file);
        }
        // Go writes an empty list as null.
        let plugins = if listed.is_empty() { Value::Null } else { Value::Array(listed) };
        let list = json!({
            "apiVersion": "apiserver.k8s.io/v1alpha1",
            "kind": "AdmissionConfiguration",
            "plugins": plugins,
        });
        data.insert(CONFIGURATION_KEY.to_owned(), document(&list));
        Ok(data)
    }

    /// The data of the Secret with kubeconfigs, which there is even if it is empty. OPC-096.
    #[must_use]
    pub fn kubeconfig_data(&self) -> SecretData {
        let given = self.enabled.iter().filter_map(|plugin| {
            let kubeconfig = plugin.given_kubeconfig()?;
            Some((plugin.kubeconfig_key(), kubeconfig.to_owned()))
        });
        SecretData(given.collect())
    }

    /// Adds the plugins, with files from this ConfigMap and this Secret. OPC-077, OPC-116.
    pub fn add(&self, parts: &mut ServerParts, config_map: &str, secret: &str) {
        if !self.enabled.is_empty() {
            let names: Vec<&str> = self.enabled.iter().map(|plugin| plugin.name.as_str()).collect();
            parts.flag("enable-admission-plugins", names.join(","));
        }
        if !self.disabled.is_empty() {
            parts.flag("disable-admission-plugins", self.disabled.join(","));
        }
        parts.flag(
            "admission-control-config-file",
            format_args!("{CONFIGURATION_FOLDER}/{CONFIGURATION_KEY}"),
        );
        parts.config_map("admission-config", config_map, CONFIGURATION_FOLDER);
        parts.secret("admission-kubeconfigs", secret, KUBECONFIG_FOLDER);
    }
}

impl EnabledPlugin {
    /// Its file, if it has one. OPC-095.
    fn file(&self) -> Result<Option<String>, RenderError> {
        let is_for_webhooks = WEBHOOK_PLUGINS.contains(&self.name.as_str());
        let is_for_images = self.name == IMAGE_POLICY_PLUGIN;
        let given = match &self.config {
            None if self.given_kubeconfig().is_none() => return Ok(None),
            Some(PluginConfig::File(file)) => return Ok(Some(file.clone())),
            Some(PluginConfig::Given(config)) => Some(config),
            None => None,
        };
        if is_for_webhooks {
            return self.webhook_file(given).map(Some);
        }
        if is_for_images {
            return self.image_policy_file(given).map(Some);
        }
        Ok(given.map(|config| html_safe(&config.to_string())))
    }

    fn webhook_file(&self, config: Option<&Value>) -> Result<String, RenderError> {
        let text = |field: &str| config.map_or("", |config| config[field].as_str().unwrap_or_default());
        let (version, kind) = match config {
            None => WEBHOOK_KINDS[0],
            Some(_) => (text("apiVersion"), text("kind")),
        };
        if !WEBHOOK_KINDS.contains(&(version, kind)) {
            let [first, second] = WEBHOOK_KINDS.map(|(version, kind)| format!("{kind} of {version}"));
            return Err(self.fault(format!("expected {first} or {second} but got {kind:?} of {version:?}")));
        }
        let path = self.kubeconfig_path();
        Ok(document(&json!({ "apiVersion": version, "kind": kind, "kubeConfigFile": path })))
    }

    fn image_policy_file(&self, config: Option<&Value>) -> Result<String, RenderError> {
        let mut config = config.map_or_else(|| json!({ "imagePolicy": {} }), Value::clone);
        let policy = config.get_mut("imagePolicy").and_then(Value::as_object_mut);
        let missing =
            || self.fault("expected the key imagePolicy, which does not exist or is no map".to_owned());
        let policy = policy.ok_or_else(missing)?;
        policy.insert("kubeConfigFile".to_owned(), self.kubeconfig_path().into());
        Ok(document(&config))
    }

    fn fault(&self, reason: String) -> RenderError {
        RenderError::PluginConfig { plugin: self.name.clone(), reason }
    }

    /// Where its kubeconfig is. Without one it is empty: nobody shall read another file of the container as a kubeconfig.
    fn kubeconfig_path(&self) -> String {
        let path = |_| format!("{KUBECONFIG_FOLDER}/{}", self.kubeconfig_key());
        self.given_kubeconfig().map(path).unwrap_or_default()
    }

    fn kubeconfig_key(&self) -> String {
        format!("{}-kubeconfig.yaml", self.name.to_lowercase())
    }

    fn given_kubeconfig(&self) -> Option<&[u8]> {
        self.kubeconfig.as_deref().filter(|kubeconfig| !kubeconfig.is_empty())
    }
}

#[cfg(test)]
mod tests;
